"""The host: binds ``ctx.host`` to one call, and keeps account of what that call asked for."""

from __future__ import annotations

import asyncio
from typing import Any

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.functions import Function, Functions, HostCall, Parts
from evatui.kernel.host.scope import CallScope, InvokePort
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.events import EventBus
from evatui.kernel.storage.state_store import StateStore
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import Layout

__all__ = ["BoundHost", "CallScope", "Host", "InvokePort"]

MAX_RECORDED = 1_000
"""Host calls of one call that its record lists."""
_NOT_AVAILABLE = frozenset({"fs_write_text", "http_request", "spawn_process", "invoke_adapter", "progress"})


class Host:
    def __init__(
        self, layout: Layout, tree: Tree, state: StateStore, events: EventBus, invoke: InvokePort, clock: Clock
    ) -> None:
        self._parts = Parts(tree, layout, state, events, invoke, clock)

    def bind(self, scope: CallScope) -> BoundHost:
        """The host as one call sees it."""
        return BoundHost(self._parts, scope)


class BoundHost:
    """``calls`` lists what was asked for, at most 1,000: ``{fn, target, duration_us, outcome}``.

    ``outcome`` is ``ok`` or the kind of the error. ``running`` is the call that is under way, None where none is.
    """

    def __init__(self, parts: Parts, scope: CallScope) -> None:
        self.calls: list[dict[str, Any]] = []
        self.running: HostCall | None = None
        self._clock = parts.clock
        self._functions = Functions(parts, scope)

    async def __call__(self, function: str, argument: Any) -> Any:
        """The function's JSON-like answer. Raises `CallFailed`. For the event loop; whatever blocks has a thread."""
        call = self.running = HostCall(clean_line(function, 64))
        started, outcome = self._clock.monotonic(), "ok"
        try:
            return await self._named(function)(Arguments(call.fn, argument), call)
        except CallFailed as failed:
            outcome = failed.error.kind.value
            raise
        except asyncio.CancelledError:
            outcome = ErrorKind.CANCELLED.value
            raise
        except Exception as error:
            outcome = ErrorKind.HOST_ERROR.value
            raise failure(ErrorKind.HOST_ERROR, f"{call.fn} failed in the kernel ({type(error).__name__})") from error
        finally:
            self.running = None
            if len(self.calls) < MAX_RECORDED:
                duration = int((self._clock.monotonic() - started) * 1_000_000)
                self.calls.append({"fn": call.fn, "target": call.target, "duration_us": duration, "outcome": outcome})

    def _named(self, function: str) -> Function:
        found = self._functions.find(function)
        if found is not None:
            return found
        if function in _NOT_AVAILABLE:
            raise failure(ErrorKind.POLICY_DENIED, f"{function} is not available in this version")
        raise failure(ErrorKind.NOT_FOUND, f"the host has no function {clean_line(function, 64)}")
