"""Pictures in dots, drawn by a browser or a converter."""

from __future__ import annotations

from pathlib import Path

import pytest

from evatui.demo.png import to_png


def test_a_browser_draws_a_picture_that_is_named_from_the_folder_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "chromium"
    browser.write_text('#!/bin/sh\nfor last; do :; done\nprintf %s "$last" > registry.png\n', encoding="utf-8")
    browser.chmod(0o755)
    (tmp_path / "registry.svg").write_text('<svg viewBox="0 0 10 10"/>', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    drawn = to_png(Path("registry.svg"))
    assert drawn == Path("registry.png")
    assert drawn.read_text(encoding="utf-8") == (tmp_path / "registry.svg").resolve().as_uri()
