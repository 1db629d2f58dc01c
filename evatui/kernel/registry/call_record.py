"""How a call is written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evatui.kernel.model.call import CallRequest, Response
from evatui.kernel.model.manifest import AuditLevels
from evatui.kernel.records.codes import call_ending
from evatui.kernel.records.record import measured
from evatui.kernel.registry.generation import Generation

__all__ = ["call_record"]


def call_record(
    request: CallRequest,
    response: Response,
    *,
    capability_id: str | None,
    generation: Generation | None,
    levels: AuditLevels,
    host_calls: Sequence[Any],
    duration_us: int,
    data: bytes | None,
) -> dict[str, Any]:
    """The final record of a call; ``generation`` is None where none was reached.

    ``data`` is the payload as canonical JSON, where it got as far as that.
    """
    code, outcome = call_ending(response.error)
    return {
        "code": code,
        "outcome": outcome,
        "actor": request.caller.to_json(),
        "capability_id": capability_id,
        "capability": request.capability,
        **(generation.identity if generation else {}),
        "request_id": request.request_id,
        "trace_id": request.trace_id,
        "duration_us": duration_us,
        "error_kind": response.error.kind.value if response.error else None,
        "input": measured(request.payload, levels.log_input, data),
        "output": measured(response.result, levels.log_output) if response.ok else None,
        "host_calls": host_calls,
    }
