"""The host: binds ``ctx.host`` to one call, and keeps account of what that call asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.asker import Asker, HostCall, Parts
from evatui.kernel.host.functions.table import AWAITED, DIRECT, Awaited, Direct
from evatui.kernel.host.ports import Outside
from evatui.kernel.host.scope import CallScope, InvokePort
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.events import EventBus
from evatui.kernel.storage.state_store import StateStore
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.writing import Writer

__all__ = ["BoundHost", "CallScope", "Host", "InvokePort"]

MAX_RECORDED = 1_000
"""Host calls of one call that its record lists."""


class Host:
    def __init__(
        self,
        layout: Layout,
        tree: Tree,
        state: StateStore,
        events: EventBus,
        invoke: InvokePort,
        clock: Clock,
        outside: Outside,
    ) -> None:
        self._parts = Parts(tree, Writer(tree), layout, state, events, invoke, clock, outside)

    def bind(self, scope: Callable[[], CallScope]) -> BoundHost:
        """The host as one call sees it. ``scope`` is asked for, once, on the thread of the first host call."""
        return BoundHost(self._parts, scope)


class BoundHost:
    """``calls`` lists what was asked for, at most 1,000: ``{fn, target, duration_us, outcome}``.

    ``outcome`` is ``ok`` or the kind of the error. ``running`` is the call that is under way, None where none is.
    """

    _asker: Asker | None = None

    def __init__(self, parts: Parts, scope: Callable[[], CallScope]) -> None:
        self.calls: list[dict[str, Any]] = []
        self.running: HostCall | None = None
        self.now = parts.clock.monotonic
        self._parts = parts
        self._scope = scope

    @property
    def progress(self) -> Progress | None:
        """The newest report of how far the call has come."""
        return self._asker.reporting.newest if self._asker is not None else None

    def account(self) -> list[dict[str, Any]]:
        """``calls``, with one that is still under way as ``Cancelled``: nobody waits for it any more."""
        left = self.running
        if left is None:
            return self.calls.copy()
        return [*self.calls, _line(left, 0, ErrorKind.CANCELLED.value)]

    def __call__(self, function: str, argument: Any) -> Any:
        """The function's JSON-like answer, or the coroutine that is to be awaited for it, on the loop.

        Raises `CallFailed`, and so does the coroutine. For a thread that may be blocked.
        """
        asker = self._asker
        if asker is None:
            asker = self._asker = Asker(self._parts, self._scope())
        awaited = AWAITED.get(function)
        if awaited is not None:
            return self._wait_for(awaited, asker, HostCall(function), argument)
        call = HostCall(clean_line(function, 64))
        with _Account(self, call):
            return _direct(function)(asker, Arguments(call.fn, argument), call)

    async def _wait_for(self, function: Awaited, asker: Asker, call: HostCall, argument: Any) -> Any:
        with _Account(self, call):
            return await function(asker, Arguments(call.fn, argument), call)


class _Account:
    """Keeps account of one call for as long as it is under way. A defect comes out as a ``HostError``."""

    __slots__ = ("_call", "_host", "_started")

    def __init__(self, host: BoundHost, call: HostCall) -> None:
        self._host = host
        self._call = call

    def __enter__(self) -> None:
        self._host.running = self._call
        self._started = self._host.now()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        host, call = self._host, self._call
        host.running = None
        if len(host.calls) < MAX_RECORDED:
            duration = int((host.now() - self._started) * 1_000_000)
            host.calls.append(_line(call, duration, _said(error)))
        if isinstance(error, Exception) and not isinstance(error, CallFailed):
            problem = f"{call.fn} failed in the kernel ({type(error).__name__})"
            raise failure(ErrorKind.HOST_ERROR, problem) from error


def _line(call: HostCall, duration_us: int, outcome: str) -> dict[str, Any]:
    return {"fn": call.fn, "target": call.target, "duration_us": duration_us, "outcome": outcome}


def _said(error: BaseException | None) -> str:
    if error is None:
        return "ok"
    if isinstance(error, CallFailed):
        return error.error.kind.value
    return (ErrorKind.CANCELLED if isinstance(error, asyncio.CancelledError) else ErrorKind.HOST_ERROR).value


def _direct(function: str) -> Direct:
    found = DIRECT.get(function)
    if found is not None:
        return found
    raise failure(ErrorKind.NOT_FOUND, f"the host has no function {clean_line(function, 64)}")
