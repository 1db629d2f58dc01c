"""What the words mean: which command is asked, with which parameters, in which workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.opening import OpenMode
from evatui.kernel.model.errors import ErrorKind
from tests.cli.fake import CALLED, CAPABILITIES, Eva, plan

RECEIPT = {"id": "x", "action": "drain", "from": "g2", "to": "g1", "at": "", "actor": {}, "duration_ms": 1}


def test_shared_options_are_taken_before_between_and_after_the_words(eva: Eva) -> None:
    for words in (
        ("-w", "a", "--state-dir", "s", "-o", "json", "capability", "list"),
        ("capability", "-w", "a", "--state-dir", "s", "-o", "json", "list"),
        ("capability", "list", "-w", "a", "--state-dir", "s", "-o", "json"),
        ("--state-dir", "s", "capability", "-o", "json", "list", "--workspace=a"),
    ):
        said = eva(*words, capability__list=CAPABILITIES)
        assert said.json["ok"]
        assert eva.operator.opened == [(OpenMode.READ, Path("a"), Path("s"))]


def test_the_later_of_two_wins(eva: Eva) -> None:
    eva("-w", "a", "capability", "list", "-w", "b", capability__list=CAPABILITIES)
    assert eva.operator.opened[0][1] == Path("b")


def test_the_state_folder_comes_from_the_environment_unless_given(eva: Eva, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVA_STATE_DIR", "env")
    eva("status", status={})
    assert eva.operator.opened[0][2] == Path("env")
    eva("--state-dir", "given", "status", status={})
    assert eva.operator.opened[0][2] == Path("given")


@pytest.mark.parametrize(
    ("line", "command", "params"),
    [
        ("capability inspect x", "capability.inspect", {"id": "x"}),
        ("capability drain x", "capability.drain", {"id": "x"}),
        ("capability disable x --if-generation g4", "capability.disable", {"id": "x", "if_generation": "g4"}),
        ("capability enable x", "capability.enable", {"id": "x"}),
        ("capability rollback x --to g1", "capability.rollback", {"id": "x", "to": "g1"}),
        ("capability retry x --if-generation g4", "capability.retry", {"id": "x", "if_generation": "g4"}),
        ("capability test", "capability.test", {}),
        ("capability test x", "capability.test", {"id": "x"}),
        ("capability diff x", "capability.diff", {"id": "x"}),
        ("capability diff x g1 disk", "capability.diff", {"id": "x", "old": "g1", "new": "disk"}),
        ("capability graph", "capability.graph", {}),
        ("capability promote x --if-generation g4", "capability.promote", {"id": "x", "if_generation": "g4"}),
        ("capability abort x", "capability.abort", {"id": "x"}),
        ("capability pause x", "capability.pause", {"id": "x"}),
        ("capability resume x", "capability.resume", {"id": "x"}),
        ("capability undo x", "capability.undo", {"id": "x"}),
        ("capability undo x --dry-run", "capability.undo_plan", {"id": "x"}),
        (
            "capability route t --user ann --tag ring=beta",
            "capability.route",
            {"name": "t", "user": "ann", "tags": {"ring": "beta"}},
        ),
        ("capability history x", "capability.history", {"id": "x"}),
        ("capability reload", "capability.reload", {"ids": []}),
        ("capability reload a b --plan d", "capability.reload", {"ids": ["a", "b"], "plan": "d"}),
        ("capability reload a --dry-run", "capability.plan", {"ids": ["a"]}),
        ("capability reload a --if-generation g1", "capability.reload", {"ids": ["a"], "if_generation": "g1"}),
        ("capability enable x --if-generation g4", "capability.enable", {"id": "x", "if_generation": "g4"}),
        (
            "capability approve x --digest 0a --revoke --if-generation g4",
            "capability.revoke",
            {"id": "x", "digest": "0a", "if_generation": "g4"},
        ),
        ("state delete x --all --if-generation g4", "state.delete", {"id": "x", "all": True, "if_generation": "g4"}),
        ("freeze", "runtime.freeze", {}),
        ("thaw", "runtime.thaw", {}),
        ("capability explain-rejected", "capability.explain_rejected", {}),
        ("capability explain-rejected x", "capability.explain_rejected", {"id": "x"}),
        ("capability explain-rejected --digest 0a", "capability.explain_rejected", {"digest": "0a"}),
        ("audit tail --limit 5", "audit.tail", {"limit": 5}),
    ],
)
def test_a_line_asks_for_its_command(eva: Eva, line: str, command: str, params: dict[str, Any]) -> None:
    answer = (
        RECEIPT
        | plan()
        | {"deleted": 0, "schema_version": 1, "frozen": {"at": "", "actor": ""}}
        | {"rejections": [], "records": [], "generations": [], "passed": 0, "failed": 0, "capabilities": []}
    )
    said = eva("-o", "json", *line.split(), **{command.replace(".", "__"): answer})
    assert said.code == 0, said.err
    assert eva.operator.asked == [(command, params)]
    assert eva.operator.closed == 1


@pytest.mark.parametrize("line", ["a b --if-generation g1", "--if-generation g1", "a --dry-run --if-generation g1"])
def test_a_generation_guards_the_reload_of_one_capability(eva: Eva, line: str) -> None:
    said = eva("capability", "reload", *line.split(), "-o", "json")
    assert (said.code, eva.operator.opened) == (64, [])
    assert "--if-generation" in said.json["error"]["message"]


def test_freeze_and_thaw_tell_a_person_what_they_did(eva: Eva) -> None:
    said = eva("freeze", runtime__freeze={"frozen": {"at": "2026-01-01T10:00:00Z", "actor": "ann"}})
    assert said.out == "● frozen since 2026-01-01T10:00:00Z by ann\n"
    said = eva("thaw", runtime__thaw={"frozen": None, "changes": plan("update")["changes"]})
    assert said.out.startswith("● thawed\n")
    assert "~ update" in said.out


@pytest.mark.parametrize(
    ("line", "mode"),
    [
        ("status", OpenMode.READ),
        ("capability reload x --dry-run", OpenMode.READ),
        ("capability call x", OpenMode.WRITE),
        ("capability disable x", OpenMode.WRITE),
        ("capability drain x", OpenMode.ATTACH),
        ("capability reload x", OpenMode.ATTACH),
        ("runtime restart", OpenMode.ATTACH),
    ],
)
def test_only_what_must_write_writes_and_what_changes_a_runtime_needs_one(eva: Eva, line: str, mode: OpenMode) -> None:
    refuse = CommandFailed(ErrorKind.UNAVAILABLE, "")
    eva(
        *line.split(),
        status=refuse,
        **dict.fromkeys(("capability__plan", "capability__call", "runtime__restart"), refuse),
    )
    assert eva.operator.opened[0][0] is mode


def called_with(eva: Eva, *words: str, stdin: bytes = b"") -> dict[str, Any]:
    said = eva("capability", "call", "t", *words, stdin=stdin, capability__call=CALLED)
    assert said.code == 0, said.err
    return eva.operator.asked[0][1]


def test_a_call_without_more_sends_an_empty_object(eva: Eva) -> None:
    assert called_with(eva) == {"name": "t", "payload": {}, "tags": {}}


def test_a_call_sends_everything_that_is_given(eva: Eva) -> None:
    words = ("--provider", "p", "--user", "u", "--tag", "a=1", "--tag", "b=x=y", "--timeout-ms", "50")
    assert called_with(eva, *words, "--payload", "null") == {
        "name": "t",
        "payload": None,
        "tags": {"a": "1", "b": "x=y"},
        "provider": "p",
        "user": "u",
        "timeout_ms": 50,
    }


def test_a_payload_comes_from_the_line_a_file_or_stdin(eva: Eva, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text('{"topic": "ü"}', encoding="utf-8")
    assert called_with(eva, "--payload", '{"n": 123456789012345678901}')["payload"] == {"n": 123456789012345678901}
    assert called_with(eva, "--payload", f"@{file}")["payload"] == {"topic": "ü"}
    assert called_with(eva, "--payload", "-", stdin=b"[1]")["payload"] == [1]


@pytest.mark.parametrize(
    ("payload", "stdin", "kind", "said"),
    [
        ("{", b"", "InvalidInput", "--payload is not JSON"),
        ("NaN", b"", "InvalidInput", "NaN is not JSON"),
        ('{"n": 1e999}', b"", "InvalidInput", "1e999 is too large a number"),
        ("[" * 200_000, b"", "InvalidInput", "nested too deeply"),
        ("9" * 5000, b"", "InvalidInput", "--payload is not JSON"),
        ("-", b'"\xff"', "InvalidInput", "not UTF-8 at byte 1"),
        ("-", b" " * (16 * 1024 * 1024 + 1), "InputTooLarge", "stdin holds more than"),
        ("@no/such/file", b"", "InvalidInput", "no/such/file cannot be read: No such file"),
        ("@.", b"", "InvalidInput", "cannot be read: Is a directory"),
        ("@a\0b", b"", "InvalidInput", "cannot be read: that is no file name"),
    ],
)
def test_a_payload_that_cannot_be_read_is_refused_before_anything_runs(
    eva: Eva, payload: str, stdin: bytes, kind: str, said: str
) -> None:
    answer = eva("capability", "call", "t", "--payload", payload, "-o", "json", stdin=stdin)
    assert answer.code == 2
    assert answer.json["error"]["kind"] == kind
    assert said in answer.json["error"]["message"]
    assert eva.operator.opened == []
