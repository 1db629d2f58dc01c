"""What leaves the console: the clipboard with its file, and records in a file of their own."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from evatui.console.copying import beside, to_tmux
from evatui.console.exporting import write_new
from tests.console.conftest import OpenConsole


def test_what_is_copied_stands_in_a_file_that_only_its_user_reads(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    beside(folder, "one")
    path = beside(folder, "two \ud800")
    assert path.read_text() == "two ?"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in folder.iterdir()] == [path.name]


async def test_without_tmux_there_is_nothing_to_tell_it() -> None:
    assert not await to_tmux("x", {})


async def test_tmux_gets_it_into_its_buffer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tmux"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/called\ncat > {tmp_path}/buffer\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert await to_tmux("Größe", {"TMUX": "/tmp/x,1,0"})
    assert (tmp_path / "buffer").read_text() == "Größe"
    assert (tmp_path / "called").read_text() == "load-buffer -w -\n"


def test_no_file_is_written_over(tmp_path: Path) -> None:
    write_new(tmp_path / "a", "one")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "a", "two")
    assert (tmp_path / "a").read_text() == "one"


async def test_the_records_that_are_shown_are_exported(
    console: OpenConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with console() as it:
        await it.press("colon", *"export", "enter")
        assert "works in: Audit" in it.status
        await it.press("6", "slash", *"err:", "enter", "colon", *"export", "enter")
        assert "1 record in audit-102-102.jsonl" in it.status
        (line,) = (tmp_path / "audit-102-102.jsonl").read_text().splitlines()
        assert json.loads(line)["seq"] == 102
        await it.press("colon", *"export", "enter")
        assert "file exists" in it.status
        await it.press("colon", *"export all of it.jsonl", "enter")
        assert (tmp_path / "all of it.jsonl").exists()


async def test_copy_says_which_ways_it_went(
    console: OpenConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TMUX", raising=False)
    async with console() as it:
        await it.press("C")
        assert it.app.clipboard == "adapter-result-simplify"
        assert "OSC 52" in it.status
        assert (tmp_path / "evatui" / "clip.txt").read_text() == "adapter-result-simplify"
        await it.press("d")
        await it.armed()
        await it.press("C")
        assert "characters" in it.status
