"""What a handler's outcome means to its caller. Pure; runs in the worker thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.lua.outcome import BadValue, Outcome, Raised, Returned, Verdict, resolve_empty
from evatui.kernel.model.call import Response
from evatui.kernel.model.errors import HANDLER_KINDS, CallError, ErrorKind, Origin
from evatui.kernel.model.text import clean, clean_line

__all__ = ["interpret"]

_MESSAGE = 1000
_HANDLER: Mapping[str, Any] = {"origin": Origin.HANDLER.value}


def _refused(
    kind: ErrorKind, message: str, details: Mapping[str, Any] = _HANDLER, *, retryable: bool = False
) -> Response:
    return Response(False, error=CallError(kind, clean(message, _MESSAGE), retryable, None, details))


def interpret(outcome: Outcome, candidate: Candidate) -> Response:
    """The `Response` of a handler that ended in ``outcome``; a result is checked against the output schema."""
    match outcome:
        case Returned():
            return _returned(outcome, candidate)
        case Verdict(kind, message, retryable):
            return _refused(kind, message, {}, retryable=retryable or kind is ErrorKind.TIMEOUT)
        case BadValue(path, message):
            return _refused(ErrorKind.INVALID_OUTPUT, f"{path or 'the answer'}: {message}", {**_HANDLER, "path": path})
        case Raised():
            return _raised(outcome)


def _raised(raised: Raised) -> Response:
    place = {"file": raised.file, "line": raised.line} if raised.file else {}
    return _handler_error(raised.kind, raised.message, raised.retryable, place)


def _handler_error(kind: str | None, message: str, retryable: bool, details: Mapping[str, Any]) -> Response:
    if kind in HANDLER_KINDS:
        return _refused(ErrorKind(kind), message, {**_HANDLER, **details}, retryable=retryable)
    named = {"kind": clean_line(kind, 64)} if kind else {}
    return _refused(ErrorKind.HANDLER_ERROR, message, {**_HANDLER, **named, **details}, retryable=retryable)


def _returned(returned: Returned, candidate: Candidate) -> Response:
    value = returned.value
    if not isinstance(value, dict) or not isinstance(value.get("ok"), bool):
        return _refused(
            ErrorKind.INVALID_RESPONSE,
            "the handler must return {ok = true, result = …} or {ok = false, error = {…}}",
        )
    return _succeeded(value, returned.marked, candidate) if value["ok"] else _failed(value.get("error"))


def _failed(error: Any) -> Response:
    if not isinstance(error, dict) or not isinstance(error.get("kind"), str):
        message = "ok = false needs error = {kind = …, message = …}"
        return _refused(ErrorKind.INVALID_RESPONSE, message)
    told = error.get("message")
    text = told if isinstance(told, str) else "the handler gave no message"
    return _handler_error(error["kind"], text, error.get("retryable") is True, {})


def _succeeded(value: dict[str, Any], marked: bool, candidate: Candidate) -> Response:
    output, result, meta = candidate.output, value.get("result"), value.get("meta")
    if not marked:
        result = resolve_empty(result, output.empty_is_array)
        meta = resolve_empty(meta, lambda _: False)
    violations = output.check(result)
    if violations:
        return _refused(
            ErrorKind.INVALID_OUTPUT,
            f"the result does not fit {candidate.output_name}: {violations[0].text}",
            {**_HANDLER, "violations": [{"pointer": v.pointer, "message": v.message} for v in violations]},
        )
    return Response(True, result, meta if isinstance(meta, dict) else None)
