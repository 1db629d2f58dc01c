"""What came from outside, read as what a provider may answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import orjson

from evatui.kernel.model.errors import HANDLER_KINDS, CallError, CallFailed, ErrorKind, Origin, failure
from evatui.kernel.model.text import clean, clean_line

__all__ = ["hidden", "refusal", "result_of"]

_MESSAGE: Final = 1_000


def result_of(answer: Any, who: str) -> Any:
    """The ``result`` of ``{ok, result}``. Raises `CallFailed` for ``{ok = false, error}``, as a handler's, and
    ``InvalidResponse`` for anything else."""
    if isinstance(answer, Mapping) and answer.get("ok") is True:
        return answer.get("result")
    if isinstance(answer, Mapping) and answer.get("ok") is False:
        raise refusal(answer.get("error"), who)
    raise failure(ErrorKind.INVALID_RESPONSE, f"{who} must answer {{ok, result}} or {{ok, error}}")


def refusal(error: Any, who: str) -> CallFailed:
    """What a provider says when it does not do what was asked."""
    told = error if isinstance(error, Mapping) else {}
    kind, message = str(told.get("kind") or ""), told.get("message")
    text = clean(message, _MESSAGE) if isinstance(message, str) and message else f"{who} refused without a message"
    details: dict[str, Any] = {"origin": Origin.HANDLER.value}
    if kind and kind not in HANDLER_KINDS:
        details["kind"] = clean_line(kind, 64)
    known = ErrorKind(kind) if kind in HANDLER_KINDS else ErrorKind.HANDLER_ERROR
    return CallFailed(CallError(known, text, told.get("retryable") is True, None, MappingProxyType(details)))


def hidden(value: Any, secrets: Any) -> Any:
    """``value`` without the values of credentials, which whoever was sent them may send back. For a thread; raises
    `CallFailed` for what is no JSON, as an integer of more than 64 bits is to us."""
    if not secrets:
        return value
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        raise failure(ErrorKind.INVALID_RESPONSE, "the answer is not JSON") from None
    for secret in secrets:
        text = secret.redacted(text)
    return json.loads(text)
