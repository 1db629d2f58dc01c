"""The router: one name, whoever provides it, and who is asked next where the first one cannot.

The explicit provider, else who is well before who is not, then the higher priority, then the id. Another one is asked
only after an error that a new attempt may mend, and only where the call was not sent or may be done twice.
"""

from __future__ import annotations

import math
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any

from evatui.kernel.lua.program import HOST_FUNCTIONS
from evatui.kernel.model.call import KERNEL, CallReport, CallRequest
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.ids import fold_words
from evatui.kernel.model.manifest import SideEffects
from evatui.kernel.model.progress import Progress
from evatui.kernel.registry.calls import Calls
from evatui.kernel.registry.providers.builtin import BUILTIN
from evatui.kernel.registry.providers.provider import Provider
from evatui.kernel.registry.providers.providers import Providers
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.router import may_answer, route
from evatui.kernel.registry.under_way import UnderWay

__all__ = ["Choice", "Dispatch"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One that may answer. ``transport`` is ``lua_capability`` for a capability; ``provider`` None then."""

    id: str
    transport: str
    well: bool
    priority: int
    side_effects: SideEffects
    provider: Provider | None = None

    @property
    def rank(self) -> tuple[bool, int, str]:
        return not self.well, -self.priority, self.id


class Dispatch:
    def __init__(self, registry: Registry, calls: Calls, providers: Providers, clock: Clock) -> None:
        self._registry = registry
        self._calls = calls
        self._providers = providers
        self._clock = clock
        self.asking: dict[str, UnderWay] = {}
        """Calls that something is asked about before anybody is chosen for them, by request."""
        providers.begin(self._all)
        providers.own_names = self._own_names

    def call(self, request: CallRequest) -> Coroutine[Any, Any, CallReport]:
        """As `Calls.call`; what only one capability provides goes straight there."""
        name = request.capability
        if not self._providers.offering(name) and (
            request.provider is not None or len(self._registry.table.providers.get(name, ())) < 2
        ):
            return self._calls.call(request)
        return self._routed(request)

    # -- what is in flight ---------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        """How many calls are, of capabilities and of adapters."""
        return len(self.asking) + len(self._calls.flights) + len(self._providers.news.trips)

    @property
    def under_way(self) -> list[UnderWay]:
        """All of them, the oldest first."""
        beside = [*self.asking.values(), *self._providers.news.trips.values()]
        found: list[UnderWay] = [*self._calls.flights.values(), *beside]
        return sorted(found, key=lambda one: one.started) if beside else found

    def find(self, request_id: str) -> UnderWay | None:
        places = self._calls.flights, self._providers.news.trips, self.asking
        return next((place[request_id] for place in places if request_id in place), None)

    def progress_of(self, call: UnderWay) -> Progress | None:
        """Its own word on how far it has come; where it has none, that of an adapter which it waits for."""
        if call.progress is not None:
            return call.progress
        trace = call.request.trace_id
        waited = (trip.progress for trip in self._providers.news.trips.values() if trip.request.trace_id == trace)
        return next((progress for progress in waited if progress is not None), None)

    # -- who answers ---------------------------------------------------------------------------

    def choices(self, request: CallRequest) -> list[Choice]:
        """Who may answer, in the order in which they are asked."""
        name, table = request.capability, self._registry.table
        found = [
            Choice(
                key,
                "lua_capability",
                generation.ailment is None,
                generation.manifest.priority,
                generation.manifest.side_effects,
            )
            for key in table.providers.get(name, ())
            if may_answer(key, request)
            for generation in (table.active[key],)
        ]
        if not self._providers.denies(name):
            found += [self._choice(key) for key in self._providers.offering(name) if self._may(key, request)]
        return sorted(found, key=lambda choice: choice.rank)

    def _choice(self, key: str) -> Choice:
        provider = self._providers.serving[key]
        adapter = provider.adapter
        state = provider.state
        return Choice(key, adapter.transport, state.ok, adapter.priority, adapter.side_effects, provider)

    def _may(self, key: str, request: CallRequest) -> bool:
        return may_answer(key, request) and (not request.local or key == BUILTIN.id)

    async def _routed(self, request: CallRequest) -> CallReport:
        if request.timeout_ms is not None:
            until = self._clock.monotonic() + request.timeout_ms / 1000
            request = replace(request, deadline=min(until, request.deadline or math.inf))
        choices = self.choices(request)
        if not choices or (self._calls.ending and not request.ancestors):
            return await self._calls.call(request)
        report: CallReport | None = None
        for choice in choices:
            if report is not None and self._clock.monotonic() >= (request.deadline or math.inf):
                break
            report = await self._asked(choice, request)
            error = report.response.error
            if error is None or not error.retryable or (report.generation and not _repeatable(choice)):
                break
        assert report is not None  # there was one to ask
        return report

    def _asked(self, choice: Choice, request: CallRequest) -> Coroutine[Any, Any, CallReport]:
        if choice.provider is not None:
            return choice.provider.call(request)
        if route(self._registry.table, request) == choice.id:
            return self._calls.call(request)
        return self._calls.call(replace(request, provider=choice.id))

    def _own_names(self) -> frozenset[str]:
        """What tools of one's own are called: capabilities, exposed handlers, and functions of the host."""
        handlers = (generation.manifest.mcp for generation in self._registry.table.active.values())
        exposed = (name for one in handlers if one is not None for name in (one.tool_name, one.exposed_name) if name)
        names = (*self._registry.table.providers, *BUILTIN.capabilities, *exposed, *HOST_FUNCTIONS)
        return frozenset(map(fold_words, names))

    def _all(self) -> dict[str, list[str]]:
        """Every name with its providers, the preferred one first."""
        names = {*self._registry.table.providers, *self._providers.names}
        request = CallRequest("", None, KERNEL)
        return {
            name: [choice.id for choice in self.choices(replace(request, capability=name))] for name in sorted(names)
        }


def _repeatable(choice: Choice) -> bool:
    return choice.side_effects is not SideEffects.MUTATING
