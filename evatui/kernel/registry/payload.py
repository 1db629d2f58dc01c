"""What a call brings, against the limits and the input schema of the version that is to take it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.call import CallerType, CallRequest
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.records.record import canonical

__all__ = ["admitted", "handed", "resolved"]

_EMPTY = b"{}"


def admitted(request: CallRequest, candidate: Candidate) -> tuple[Any, bytes]:
    """The payload as the handler gets it, and the same as canonical JSON.

    What comes from Lua may hold empty tables: each is an array where the schema wants only an array.
    Raises `CallFailed`: ``InvalidInput``, ``InputTooLarge``.
    """
    payload = request.payload
    try:
        data = canonical(payload)
    except (TypeError, RecursionError) as error:
        raise failure(ErrorKind.INVALID_INPUT, f"the payload is not JSON: {error}") from None
    size, limit = len(data), candidate.manifest.limits.max_input_bytes
    if size > limit:
        raise failure(ErrorKind.INPUT_TOO_LARGE, f"the payload has {size} bytes, {limit} are allowed")
    if request.caller.type is CallerType.CAPABILITY and _EMPTY in data:
        payload = resolved(payload, candidate.input.empty_is_array)
        data = canonical(payload)
    violations = candidate.input.check(payload)
    if violations:
        raise failure(
            ErrorKind.INVALID_INPUT,
            f"the payload does not fit {candidate.input_name}: {violations[0].text}",
            violations=[{"pointer": v.pointer, "message": v.message} for v in violations],
        )
    return payload, data


def handed(request: CallRequest, *, provider: str, generation: str, workspace: str, left_s: float) -> dict[str, Any]:
    """The request as a handler gets it."""
    return {
        "capability": request.capability,
        "provider": provider,
        "payload": request.payload,
        "context": {
            "workspace": workspace,
            "request_id": request.request_id,
            "trace_id": request.trace_id,
            "deadline_ms": max(0, int(left_s * 1000)),
            "generation": generation,
            "user": request.user,
            "tags": dict(request.tags),
            "caller": request.caller.to_json(),
        },
    }


def resolved(value: Any, wants_array: Callable[[str], bool]) -> Any:
    """What comes from Lua, with each empty table an array where the schema wants only an array."""
    return _resolved(value, wants_array, "")


def _resolved(value: Any, wants_array: Callable[[str], bool], pointer: str) -> Any:
    if value == {}:
        return [] if wants_array(pointer) else value
    if isinstance(value, dict):
        return {
            key: _resolved(item, wants_array, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_resolved(item, wants_array, f"{pointer}/{index}") for index, item in enumerate(value)]
    return value
