"""What a plugin writes, read: the answer, and its progress."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evatui.adapters.plugin_answer import answer_of
from evatui.adapters.plugin_lines import ProgressLines
from evatui.adapters.plugin_work import confining
from evatui.kernel.host.ports import Finished
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.model.progress import Progress


def read(work: Path, stdout: str, stderr: str = "", code: int = 0, payload: object = None) -> dict:
    finished, package = Finished(code, stdout.encode(), stderr.encode()), (work.parent / "copy", "plugins/ring")
    return answer_of("plugin.ring.go", finished, payload or {}, work, ".eva/work/x", package)


@pytest.mark.parametrize(
    ("stdout", "stderr", "output"),
    [
        ('{"output": "done"}', "noise", "done"),
        ('{"success": true}', "", '{"success": true}'),
        ("plain", "words", "plain\nwords"),
        ("{not json} at all", "", "{not json} at all"),
        ("[1, 2]", "", "[1, 2]"),
        pytest.param(f'{{"x": {"9" * 5_000}}}', "", f'{{"x": {"9" * 5_000}}}', id="a long number"),
        ("", "", ""),
    ],
)
def test_the_answer_is_json_or_text(tmp_path: Path, stdout: str, stderr: str, output: str) -> None:
    assert read(tmp_path, stdout, stderr)["output"] == output


@pytest.mark.parametrize(
    ("stdout", "code", "kind"),
    [
        ('{"output": "x', 0, "InvalidResponse"),
        pytest.param("[" * 100_000, 0, "InvalidResponse", id="deep"),
        ('{"success": "yes"}', 0, "InvalidResponse"),
        ('{"files_to_send": "a"}', 0, "InvalidResponse"),
        ('{"files_to_send": ["a\\u0000b"]}', 0, "InvalidResponse"),
        ('{"output": "x", "success": true}', 3, "HandlerError"),
        ("", 139, "HostError"),
    ],
)
def test_what_is_no_answer_is_the_right_error(tmp_path: Path, stdout: str, code: int, kind: str) -> None:
    with pytest.raises(CallFailed) as failed:
        read(tmp_path, stdout, code=code)
    assert failed.value.error.kind.value == kind


def test_an_error_tells_no_place_of_this_machine(tmp_path: Path) -> None:
    with pytest.raises(CallFailed) as failed:
        read(tmp_path, "", f"in {tmp_path.parent}/copy/lib.py: no {tmp_path}/a.txt", code=1)
    assert failed.value.error.message == "in plugins/ring/lib.py: no .eva/work/x/a.txt"


def test_files_are_those_of_the_work_folder_alone(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside.txt"
    (work / "sub").mkdir(parents=True)
    outside.write_text("x")
    (work / "sub/a.txt").write_text("ab")
    (work / "to-a").symlink_to("sub/a.txt")
    (work / "away").symlink_to(outside)
    os.link(outside, work / "hard")
    found = read(work, f'{{"output": "", "file_modified": "{work}/sub/a.txt", "files_to_send": ["to-a"]}}')
    assert (found["file_modified"], found["files_to_send"]) == ("sub/a.txt", ["sub/a.txt"])
    assert found["files"] == [{"path": "sub/a.txt", "bytes": 2, "detected": False}]
    for path in ("away", "hard", "sub", "none", "../outside.txt", str(outside)):
        with pytest.raises(CallFailed, match="no file of its work folder"):
            read(work, f'{{"files_to_send": ["{path}"]}}')
    assert read(work, f"Report saved to: {outside}\nGenerated: away")["files"] == []
    assert read(work, "Generated PPTX: sub/a.txt")["files_to_send"] == ["sub/a.txt"]
    assert read(work, "x", payload={"out": "sub/a.txt"})["files"][0]["detected"]


def test_of_the_operators_own_folders_only_programs_and_libraries_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(os.path.realpath(tmp_path)) / "home"
    monkeypatch.setenv("HOME", str(home))
    for name in ("bin", "lib", "share", "credentials.toml", ".git"):
        (home / ".cargo" / name).mkdir(parents=True)
    (home / "bin").mkdir()
    path = os.pathsep.join((f"{home}/.cargo/bin", f"{home}/bin", "/srv/tools/bin", "/usr/bin"))
    rules = json.loads(confining("p", tmp_path, tmp_path, {"PATH": path}, home / "ws", network=False)[4])
    own = [f"{home}/{name}" for name in (".cargo/bin", "bin", ".cargo/lib")]
    assert [path for path in rules["read"] if path.startswith(str(home))] == own
    assert "/srv/tools" in rules["read"]


def test_lines_are_progress_and_a_flood_of_them_is_not_told() -> None:
    told: list[Progress] = []
    lines = ProgressLines(told.append)
    lines.hear(b"first\nsec")
    lines.hear(b"ond\n" + b"x\n" * 10_000)
    lines.hear(b'{"type": "progress", "stage": "s", "message": "m", "progress": 0.25}')
    lines.end()
    assert told[0] == Progress(0, None, "first")
    assert told[-1] == Progress(25, 100, "s: m")
    assert len(told) < 100
    assert lines.passed_over > 9_000
