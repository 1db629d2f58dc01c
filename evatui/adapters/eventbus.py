"""The transport ``eventbus``: the request is an event, and so is the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evatui.adapters.answers import result_of
from evatui.kernel.host.ports import Invocation, NotSent, WayState
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.ids import new_id
from evatui.kernel.model.tools import ServerInfo
from evatui.kernel.records.events import EventBus

__all__ = ["Eventbus"]


class Eventbus:
    """Emits ``{call_id, capability, payload, request_id, trace_id, deadline_ms}``; the answer is ``{call_id, ok, result
    or error}``. Whoever may emit to the topic of the answers may answer: that is for the policy to say."""

    server: ServerInfo | None = None
    state = WayState("up")

    def __init__(self, adapter: Adapter, bus: EventBus) -> None:
        self._adapter = adapter
        self._bus = bus

    def target(self, invocation: Invocation) -> str:
        return f"{self._adapter.block['request_topic']} {invocation.capability}"

    async def invoke(self, invocation: Invocation) -> Any:
        call_id = new_id("bus")
        request = {
            "call_id": call_id,
            "capability": invocation.capability,
            "payload": invocation.payload,
            "request_id": invocation.request_id,
            "trace_id": invocation.trace_id,
            "deadline_ms": max(0, int(invocation.left_s * 1000)),
        }
        answers = self._bus.subscribe(self._adapter.block["reply_topic"])
        try:
            self._emit(request, invocation)
            async for event in answers:
                if event.payload.get("call_id") == call_id:
                    return result_of(event.payload, self._adapter.id)
        finally:
            answers.close()
        raise failure(ErrorKind.UNAVAILABLE, "the bus was closed before an answer came")

    def _emit(self, request: Mapping[str, Any], invocation: Invocation) -> None:
        try:
            self._bus.emit(self._adapter.block["request_topic"], request, actor=invocation.caller)
        except (ValueError, TypeError) as error:
            raise NotSent(ErrorKind.INVALID_INPUT, f"no event can hold the payload: {error}", retryable=False) from None

    async def probe(self) -> None:
        """Nobody can tell before a request whether anybody answers."""

    def adjust(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def start(self) -> None:
        """There is nothing to connect to."""

    async def close(self) -> None:
        """Nothing was started."""
