"""Hooks around calls, wired: those of the plugins in service, each run on record."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from evatui.adapters.plugin_hooks import HookRuns
from evatui.adapters.plugin_room import PluginRoom
from evatui.adapters.plugin_tasks import PluginTask
from evatui.extensions.hooks.armed import AFTER, SPAWN_DONE, SPAWN_FAILED, Armed, armed_by
from evatui.extensions.hooks.hooks import Denial, Hooks, HookState
from evatui.extensions.hooks.meaning import Meaning, Verdict, failed, verdict
from evatui.extensions.hooks.payload import ToolCall, ToolEnd
from evatui.extensions.plugins.offering import TRANSPORT, capability_of, provider_of
from evatui.kernel.model.call import CallerType, CallReport, CallRequest, Response
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import CallError, CallFailed, ErrorKind
from evatui.kernel.model.ids import new_id
from evatui.kernel.model.manifest import AuditLevel
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.audit import AuditLog, Reservation
from evatui.kernel.records.codes import Code, Outcome, call_ending
from evatui.kernel.records.events import EventBus
from evatui.kernel.records.record import measured
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.providers.dispatch import Dispatch
from evatui.kernel.registry.providers.providers import Providers
from evatui.runtime.held_by_hooks import HeldByHooks

__all__ = ["Hooking"]

_AFTERWARDS: Final = 64
"""Ends of calls that are told to hooks beside whatever else goes on; of more of them nobody is told."""
_ENDINGS: Final = {
    Meaning.ALLOWED: (Code.HOOK_OK, Outcome.OK),
    Meaning.MODIFIED: (Code.HOOK_MODIFIED, Outcome.OK),
    Meaning.DENIED: (Code.HOOK_DENIED, Outcome.DENIED),
    Meaning.FAILED: (Code.HOOK_FAILED, Outcome.ERROR),
}


class Hooking:
    """Calls go on to ``dispatch`` where no hook has anything to say. For one event loop."""

    def __init__(
        self,
        providers: Providers,
        dispatch: Dispatch,
        room: PluginRoom,
        root: Path,
        audit: AuditLog,
        journal: Journal,
        bus: EventBus,
        clock: Clock,
    ) -> None:
        self._providers = providers
        self._dispatch = dispatch
        self._runs = HookRuns(room, root)
        self._audit = audit
        self._journal = journal
        self._bus = bus
        self._clock = clock
        self._hooks = Hooks(self._armed, self._run, self._disabled)
        self._after: set[asyncio.Task[None]] = set()
        self._as_of: object = None
        self._found: list[Armed] = []
        self.on_flight: Callable[[], None] = lambda: None
        """Called where what is asked about a call has changed; it must be cheap."""

    @property
    def states(self) -> list[HookState]:
        return self._hooks.states

    def call(self, request: CallRequest) -> Coroutine[Any, Any, CallReport]:
        if request.caller.type is CallerType.HOOK or not self._hooks.around(request.capability):
            return self._dispatch.call(request)
        return self._hooked(request)

    def task_ended(self, task: PluginTask) -> None:
        """A tool that ran in the background has come to its end."""
        well = task.state == "done"
        spent_ms = (task.ended - task.began).total_seconds() * 1000 if task.ended is not None else 0.0
        tool = capability_of(task.plugin, task.tool)
        call = ToolCall(tool=tool, arguments=None, request_id=task.request_id, trace_id="", caller=task.actor)
        error = task.error.message if task.error is not None else ""
        end = ToolEnd(ok=well, duration_ms=spent_ms, result=task.result, error=error, task=task.handle)
        self._later(self._hooks.ended(SPAWN_DONE if well else SPAWN_FAILED, call, end))

    async def close(self, within_s: float) -> None:
        """Lets hooks end that run, then ends them."""
        if self._after:
            await asyncio.wait(self._after, timeout=within_s)
        for task in self._after:
            task.cancel()
        await asyncio.gather(*self._after, return_exceptions=True)

    # -- around a call ------------------------------------------------------------------------

    async def _hooked(self, request: CallRequest) -> CallReport:
        started = self._clock.monotonic()
        if request.timeout_ms is not None:
            until = started + request.timeout_ms / 1000
            request = replace(request, deadline=min(until, request.deadline or math.inf))
        told = ToolCall(
            tool=request.capability,
            arguments=request.payload,
            request_id=request.request_id,
            trace_id=request.trace_id,
            caller=request.caller,
        )
        left_s = None if request.deadline is None else max(0.0, request.deadline - started)
        until = started + self._hooks.at_most_s(request.capability) if left_s is None else started + left_s
        held = HeldByHooks(request, self._clock.now(), started, until, task=asyncio.current_task())
        try:
            async with asyncio.timeout(left_s):
                decided = await self._asked(held, told)
        except asyncio.CancelledError:
            if not held.is_by_order:
                raise
            error = CallError(ErrorKind.CANCELLED, f"cancelled by {held.cancelled_by}")
            return await self._refused(request, error, started)
        except TimeoutError:
            error = CallError(ErrorKind.TIMEOUT, "the time of the call was over before its hooks were", True)
            return await self._refused(request, error, started)
        except CallFailed as problem:
            return await self._refused(request, problem.error, started)
        if isinstance(decided, Denial):
            by = decided.by.plugin.name
            message = f"a hook of the plugin {by} denies it: {decided.why}"
            error = CallError(ErrorKind.POLICY_DENIED, message, details={"reason": "hook_denied", "plugin": by})
            return await self._refused(request, error, started)
        report = await self._dispatch.call(replace(request, payload=decided.arguments))
        said = report.response
        error_text = said.error.message if said.error is not None else ""
        end = ToolEnd(ok=said.ok, duration_ms=report.duration_ms, result=said.result, error=error_text)
        self._later(self._hooks.ended(AFTER, decided, end))
        return report

    async def _asked(self, held: HeldByHooks, told: ToolCall) -> ToolCall | Denial:
        """What the hooks say; meanwhile the call is in flight."""
        asking, key = self._dispatch.asking, held.request.request_id

        def runs(armed: Armed) -> None:
            held.hook = clean_line(f"hook {armed.plugin.name} {armed.shown}", 120)
            self.on_flight()

        asking[key] = held
        try:
            return await self._hooks.before(told, runs)
        finally:
            if asking.get(key) is held:
                del asking[key]
            self.on_flight()

    async def _refused(self, request: CallRequest, error: CallError, started: float) -> CallReport:
        """What no handler saw is on record too, before the answer leaves."""
        spent_s = self._clock.monotonic() - started
        code, outcome = call_ending(error)
        record = {
            "code": code,
            "outcome": outcome,
            "actor": request.caller.to_json(),
            "capability": request.capability,
            "request_id": request.request_id,
            "trace_id": request.trace_id,
            "duration_us": int(spent_s * 1_000_000),
            "error_kind": error.kind.value,
            "input": measured(request.payload, AuditLevel.METADATA_ONLY),
        }
        try:
            reservation = self._audit.begin()
            await asyncio.to_thread(lambda: self._audit.final(reservation, record).wait())
        except CallFailed as problem:
            error = problem.error
        return CallReport(
            Response(False, error=error), request.request_id, request.trace_id, None, None, spent_s * 1000
        )

    # -- the hooks ----------------------------------------------------------------------------

    def _armed(self) -> list[Armed]:
        """Asked at every call: looked for only where something went into service, or out of it."""
        names = self._providers.names  # another object after each change of what serves
        if self._as_of is not names:
            self._as_of, self._found = names, list(self._in_service())
        return self._found

    def _in_service(self) -> Iterator[Armed]:
        """Those of the plugins that serve, by the name of the plugin."""
        serving = self._providers.serving
        for key in sorted(key for key, one in serving.items() if one.adapter.transport == TRANSPORT):
            yield from armed_by(serving[key].adapter.block["plugin"])

    async def _run(self, armed: Armed, call: ToolCall, data: bytes) -> Verdict:
        """Raises ``AuditUnavailable``: a hook that is not on record does not run, nor does what it would judge."""
        run_id, began = new_id("hook"), self._clock.monotonic()
        reservation = self._audit.begin()
        asked = {"fn": f"hook.{armed.hook.event}", "target": armed.shown, "duration_us": None, "outcome": "intent"}
        fields = _identity(armed, call)
        await asyncio.to_thread(self._audit.intent, reservation, {**fields, "host_calls": [asked]})
        try:
            found = await self._judged(armed, run_id, data)
        except asyncio.CancelledError:
            self._journal.later(self._cancelled, reservation, fields)
            raise
        spent_us = int((self._clock.monotonic() - began) * 1_000_000)
        code, outcome = _ENDINGS[found.meaning]
        ended = {**asked, "duration_us": spent_us, "outcome": found.meaning.value}
        record = {**fields, "code": code, "outcome": outcome, "duration_us": spent_us, "host_calls": [ended]}
        record |= {"why": found.why} if found.why else {}
        await asyncio.to_thread(lambda: self._audit.final(reservation, record).wait())
        return found

    async def _judged(self, armed: Armed, run_id: str, data: bytes) -> Verdict:
        timeout_ms = armed.hook.timeout_ms
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                done = await self._runs.run(armed, run_id, data)
        except TimeoutError:
            return failed(f"it had not ended after {timeout_ms} ms")
        except CallFailed as problem:
            return failed(problem.error.message)
        return verdict(armed.hook.event, done.code, done.stdout, done.stderr)

    def _cancelled(self, reservation: Reservation, fields: dict[str, Any]) -> None:
        with suppress(CallFailed):
            record = {
                **fields,
                "code": Code.HOOK_FAILED,
                "outcome": Outcome.ERROR,
                "why": "nobody waits for it any more",
            }
            self._audit.final(reservation, record).wait()

    def _disabled(self, armed: Armed, why: str) -> None:
        told = {"plugin": armed.plugin.name, "event": armed.hook.event, "command": armed.shown, "cause": why}
        self._bus.emit("/plugin/hook_disabled", told)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        if len(self._after) >= _AFTERWARDS:
            work.close()
            return
        task = asyncio.create_task(self._told_after(work))
        self._after.add(task)
        task.add_done_callback(self._after.discard)

    async def _told_after(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except CallFailed:
            pass  # nothing can be written down, which calls say already
        except Exception as error:
            self._journal.defect("hooks", error)


def _identity(armed: Armed, call: ToolCall) -> dict[str, Any]:
    return {
        "actor": call.caller.to_json(),
        "capability_id": provider_of(armed.plugin.name),
        "capability": call.tool,
        "manifest_digest": armed.plugin.digest,
        "request_id": call.request_id,
        "trace_id": call.trace_id,
    }
