"""``eva`` as a shell meets it: pipes, completion, help."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from tests.cli.fake import Eva

COMMAND = [sys.executable, "-c", "from evatui.cli.main import main; main()"]


def shell(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], text=True, capture_output=True, check=False, **options)


def test_a_reader_that_goes_away_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, "completion", "fish"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion_script(eva: Eva, name: str) -> None:
    said = eva("completion", name, "-o", "json")
    assert said.json["data"]["shell"] == name
    assert "_EVA_COMPLETE" in said.json["data"]["script"]
    assert eva("completion", name).out.strip() == said.json["data"]["script"].strip()


def test_the_script_completes_words_and_options() -> None:
    def completed(*words: str) -> Sequence[str]:
        typed = {
            "COMP_WORDS": " ".join(("eva", *words)),
            "COMP_CWORD": str(len(words)),
            "_EVA_COMPLETE": "bash_complete",
        }
        done = shell(env=os.environ | typed)
        return [line.split(",")[1] for line in done.stdout.splitlines()]

    assert "capability" in completed("cap")
    assert {"drain", "disable"} <= set(completed("capability", "d"))
    assert "--workspace" in completed("capability", "list", "--w")


def test_help_and_version_are_answers() -> None:
    assert "Usage: eva [OPTIONS] COMMAND" in shell("--help").stdout
    version = shell("--version")
    assert (version.returncode, version.stdout.split()[0]) == (0, "eva,")


def test_what_is_not_utf8_on_the_line_is_shown_and_does_no_harm() -> None:
    done = subprocess.run([*COMMAND, b"\xff\x1b[2J", "-o", "json"], capture_output=True, check=False)
    assert done.returncode == 64
    assert b"\x1b" not in done.stdout
    assert done.stderr == b""
