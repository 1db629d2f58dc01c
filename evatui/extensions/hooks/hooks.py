"""Hooks in their order: one after the other, and the first that denies has the last word."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from evatui.extensions.hooks.armed import AFTER, BEFORE, FIRED, Armed, names_of
from evatui.extensions.hooks.breaker import Breaker
from evatui.extensions.hooks.meaning import Meaning, Verdict
from evatui.extensions.hooks.payload import ToolCall, ToolEnd, payload

__all__ = ["Denial", "HookState", "Hooks", "Run"]

Run = Callable[[Armed, ToolCall, bytes], Awaitable[Verdict]]
"""Runs one; what goes wrong with it is a verdict too."""


@dataclass(frozen=True, slots=True)
class Denial:
    by: Armed
    why: str


@dataclass(frozen=True, slots=True)
class HookState:
    """``state`` is ``armed``, ``disabled`` after its failures, or ``never fired``: its event never comes here."""

    armed: Armed
    state: str
    failures: int


class Hooks:
    """``armed`` are those in service by now, highest first; ``disabled`` hears of one that failed too often."""

    def __init__(self, armed: Callable[[], Sequence[Armed]], run: Run, disabled: Callable[[Armed, str], None]) -> None:
        self._armed = armed
        self._run = run
        self._disabled = disabled
        self._breaker = Breaker()

    @property
    def states(self) -> list[HookState]:
        self._breaker.keep(self._armed())
        return [HookState(one, self._state(one), self._breaker.failures(one)) for one in self._armed()]

    def around(self, tool: str) -> bool:
        """Is there a hook for calls of ``tool``?"""
        armed = self._armed()
        names = names_of(tool) if armed else ()
        return any(one.wants(event, names) for one in armed for event in (BEFORE, AFTER))

    def at_most_s(self, tool: str) -> float:
        """How long `before` takes at most for a call of ``tool``."""
        return sum(one.hook.timeout_ms for one in self._for(BEFORE, tool)) / 1000

    async def before(self, call: ToolCall, runs: Callable[[Armed], None]) -> ToolCall | Denial:
        """The call as it may go on; ``runs`` is told of each hook before it is run."""
        for one in self._for(BEFORE, call.tool):
            runs(one)
            found = await self._ran(one, call, payload(BEFORE, call))
            if found.meaning is Meaning.DENIED:
                return Denial(one, found.why)
            if found.meaning is Meaning.MODIFIED:
                call = replace(call, arguments=found.arguments)
        return call

    async def ended(self, event: str, call: ToolCall, end: ToolEnd) -> None:
        """After the call, or the task: nothing can be denied any more."""
        for one in self._for(event, call.tool):
            await self._ran(one, call, payload(event, call, end))

    def _for(self, event: str, tool: str) -> list[Armed]:
        names = names_of(tool)
        return [one for one in self._armed() if one.wants(event, names) and not self._breaker.disabled(one)]

    async def _ran(self, one: Armed, call: ToolCall, data: bytes) -> Verdict:
        found = await self._run(one, call, data)
        if self._breaker.ended(one, found.meaning):
            self._disabled(one, found.why)
        return found

    def _state(self, one: Armed) -> str:
        if one.hook.event not in FIRED:
            return "never fired"
        return "disabled" if self._breaker.disabled(one) else "armed"
