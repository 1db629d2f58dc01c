"""What a mistyped id or name is answered with, where no runtime holds the workspace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evatui.cli.main import run
from tests.support.workspaces import GREETER, write


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (("inspect", "gret"), "did you mean greet?"),
        (("inspect", "nobody"), "eva capability list"),
        (("call", "text-greet"), "did you mean text.greet?"),
        (("call", "no.such"), "eva capability list"),
    ],
)
def test_what_was_probably_meant_is_suggested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], suggestion: str
) -> None:
    write(tmp_path, GREETER)
    assert run(["-w", str(tmp_path), "capability", *words, "-o", "json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert (said["error"]["kind"], said["error"]["suggestion"]) == ("NotFound", suggestion)
    assert "suggestion" not in (said["data"] or {})


def test_a_question_is_shown_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, GREETER)
    run(["-w", str(tmp_path), "capability", "call", "text.gret"])
    assert capsys.readouterr().err.splitlines()[-1] == "did you mean text.greet?"
    run(["-w", str(tmp_path), "capability", "call", "no.such"])
    assert capsys.readouterr().err.splitlines()[-1] == "try: eva capability list"
