"""The JSON envelope, the exit codes and the two streams."""

from __future__ import annotations

import pytest

from evatui.control.exits import exit_for
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from tests.cli.fake import CALLED, CAPABILITIES, Eva, plan, refused

EXITS = {
    2: "InvalidInput InputTooLarge NotFound Conflict",
    3: "PolicyDenied",
    4: "Unavailable AuditUnavailable",
    5: "Timeout Cancelled MemoryExceeded OutputTooLarge HostCallLimit ConcurrencyLimited",
    6: "HandlerError InvalidOutput InvalidResponse HostError",
    1: "Internal",
}


def test_success_is_one_object_with_the_command_and_its_data(eva: Eva) -> None:
    said = eva("capability", "list", "-o", "json", capability__list=CAPABILITIES)
    assert said.json == {"ok": True, "command": "capability list", "exit_code": 0, "data": CAPABILITIES}
    assert (said.code, said.err) == (0, "")


def test_failure_adds_the_error_and_keeps_data_where_a_request_was_made(eva: Eva) -> None:
    said = eva("-o", "json", "capability", "call", "x", capability__call=refused("Timeout"))
    assert said.code == said.json["exit_code"] == 5
    assert said.json["ok"] is False
    assert said.json["data"]["request_id"] == "req_1"
    assert {"kind", "message", "retryable", "suggestion", "context"} == set(said.json["error"])
    assert said.json["error"]["kind"] == "Timeout"
    assert said.json["error"]["retryable"] is True


def test_every_kind_has_the_exit_code_that_is_promised() -> None:
    devices = {kind.value: 4 for kind in ErrorKind if kind.value.startswith("Device")}
    promised = devices | {kind: code for code, kinds in EXITS.items() for kind in kinds.split()}
    assert {kind.value: int(exit_for(CommandFailed(kind, ""))) for kind in ErrorKind} == promised


@pytest.mark.parametrize("kind", ["NotFound", "InvalidInput", "HandlerError"])
def test_an_error_that_the_handler_answered_is_6_whatever_its_kind(eva: Eva, kind: str) -> None:
    assert eva("capability", "call", "x", capability__call=refused(kind, "handler")).code == 6


def test_a_refused_command_says_why_and_what_to_try_on_stderr(eva: Eva) -> None:
    failed = CommandFailed(ErrorKind.UNAVAILABLE, "no runtime here", suggestion="eva serve")
    said = eva("capability", "drain", "x", capability__drain=failed)
    assert (said.code, said.out) == (4, "")
    assert said.err == "error: no runtime here\ntry: eva serve\n"


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("frob",), ""),
        ((), ""),
        (("capability",), "capability"),
        (("capability", "call"), "capability call"),
        (("capability", "list", "--frob"), "capability list"),
        (("capability", "call", "x", "--tag", "nope"), "capability call"),
        (("capability", "call", "x", "--timeout-ms", "0"), "capability call"),
        (("capability", "reload", "--dry-run", "--plan", "d"), "capability reload"),
        (("serve", "--idle-exit", "0"), "serve"),
    ],
)
def test_wrong_words_are_64_in_text_and_in_json(eva: Eva, words: tuple[str, ...], command: str) -> None:
    text = eva(*words)
    assert (text.code, text.out) == (64, "")
    assert text.err.startswith("error: ")
    assert text.err.count("\n") == 2
    as_json = eva(*words, "--output=json")
    assert as_json.code == as_json.json["exit_code"] == 64
    assert as_json.json["command"] == command
    assert as_json.err == ""


def test_a_misspelt_word_is_met_with_the_nearest_one(eva: Eva) -> None:
    assert "Did you mean 'capability'" in eva("capabilty", "list").err


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_defect_is_one_line_without_a_traceback(eva: Eva, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = KeyError("/etc/secret")
    said = eva("status", "-o", output, status=broken)
    assert said.code == 1
    assert "secret" not in said.out + said.err
    assert "Traceback" not in said.out + said.err
    monkeypatch.setenv("EVA_DEBUG", "1")
    assert "Traceback" in eva("status", "-o", output, status=broken).err


def test_an_interrupt_detaches_and_is_a_cancellation_and_one_line(eva: Eva) -> None:
    said = eva("status", status=KeyboardInterrupt())
    assert (said.code, said.out, said.err) == (5, "", "error: interrupted\n")
    assert eva.operator.closed == 1


@pytest.mark.parametrize(
    ("actions", "code"),
    [
        (("unchanged",), 0),
        (("update", "unchanged"), 10),
        (("update", "hold"), 3),
        (("hold", "reject", "add"), 2),
        ((), 0),
    ],
)
def test_a_plan_tells_by_its_exit_code_what_would_happen(eva: Eva, actions: tuple[str, ...], code: int) -> None:
    said = eva("capability", "reload", "--dry-run", "--exit-code", "-o", "json", capability__plan=plan(*actions))
    assert said.code == said.json["exit_code"] == code
    assert said.json["ok"] is (code in {0, 10})
    assert len(said.json["data"]["changes"]) == len(actions)


def test_changes_are_no_failure_unless_the_exit_code_is_asked_for(eva: Eva) -> None:
    assert eva("capability", "reload", capability__reload=plan("update", applied=True)).code == 0


def test_an_unhealthy_capability_is_a_failure_with_its_data(eva: Eva) -> None:
    error = {"kind": "Timeout", "message": "too slow", "retryable": True}
    data = {"ok": False, "duration_ms": 9, "generation": "x@1", "error": error}
    said = eva("capability", "health", "x", "-o", "json", capability__health=data)
    assert (said.code, said.json["data"]) == (5, data)


def test_a_health_check_that_answers_no_is_the_handlers_error(eva: Eva) -> None:
    error = {"code": "EVA-502", "reason": "health_failed", "message": "not today", "rendered": "EVA-502: not today"}
    data = {"ok": False, "duration_ms": 9, "generation": "x@1", "error": error}
    said = eva("capability", "health", "x", capability__health=data)
    assert (said.code, said.err) == (6, "error: not today\n")


def test_json_never_carries_raw_control_characters_and_loses_none(eva: Eva) -> None:
    result = "\x1b[2J\x9b31m\u202egnp.exe\ud83d"
    answer = CALLED | {"response": {"ok": True, "result": result, "meta": None, "error": None}}
    said = eva("capability", "call", "x", "-o", "json", capability__call=answer)
    assert said.out.isascii()
    assert said.out[:-1].isprintable()
    assert said.json["data"]["response"]["result"] == result
