"""The plugins of a running workspace: looked for, kept, and told of when they change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evatui.extensions.plugins.catalogue import (
    EMPTY,
    Listed,
    LookedAt,
    PluginCatalogue,
    Rules,
    catalogue,
    lacking,
)
from evatui.extensions.plugins.layers import PluginLayer
from evatui.extensions.plugins.package import PackageProblem
from evatui.extensions.plugins.plugin import NoPlugin, Plugin, refused
from evatui.extensions.plugins.search import Memory, PluginSearch
from evatui.extensions.plugins.verified import Verified
from evatui.extensions.shared.following import Following
from evatui.extensions.shared.layers import LayerKind
from evatui.extensions.shared.machine import Machine
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.workspace.paths import HERE, under_any

__all__ = ["Plugins"]

Emit = Callable[[str, Mapping[str, Any]], object]


class Plugins:
    """``rules`` says what the policy in force has to say; ``environment`` is looked at anew each time.

    ``lasting``: what was found is copied at once, so that it can go on when the disk holds something else. For one
    event loop; the disk is read in threads.
    """

    def __init__(
        self,
        layers: Sequence[PluginLayer],
        rules: Callable[[], Rules],
        environment: Mapping[str, str],
        verified: Verified,
        emit: Emit,
        *,
        lasting: bool,
    ) -> None:
        self._layers = tuple(layers)
        self._rules = rules
        self._environment = environment
        self._verified = verified
        self._emit = emit
        self._lasting = lasting
        self._folders = [one.layer.folder for one in layers if one.layer.kind is LayerKind.PROJECT]
        self._turn = asyncio.Lock()
        self._memory = Memory()
        self._looked = LookedAt()
        self._known: tuple[LookedAt, Rules, PluginCatalogue] | None = None
        self._good: dict[str, Plugin] = {}
        """By location, what was sound last in this run."""
        self._following = Following(self.look, lambda error: self.on_defect(error))
        self.on_change: Callable[[], None] = lambda: None
        """Called where a look found something else than the one before; it must be cheap."""
        self.in_service: Callable[[], set[str]] = set
        """The digests of plugins that calls still reach, whatever was found since."""
        self.on_defect: Callable[[Exception], None] = lambda error: None
        """Called where a look ended in a defect of the program."""

    @property
    def latest(self) -> PluginCatalogue:
        """As of the last look, under the policy of now; empty before the first one. No IO."""
        looked, rules = self._looked, self._rules()
        if not looked.layers:
            return EMPTY
        if self._known is None or self._known[0] is not looked or self._known[1] != rules:
            self._known = looked, rules, catalogue(looked, rules)
        return self._known[2]

    async def look(self) -> PluginCatalogue:
        """As the disk and the machine have it now."""
        async with self._turn:
            before, first = self.latest, not self._looked.layers
            looked = await asyncio.to_thread(self._search)
            if looked != self._looked:
                self._looked = looked
                if not first and (changes := _changes(before, self.latest)):
                    self._emit("/plugin/changed", changes)
                self.on_change()
                if self._lasting:
                    kept = {one.digest for one in looked.plugins} | self.in_service()
                    await asyncio.to_thread(self._verified.retain, kept)
        return self.latest

    def follow(self, changed: frozenset[str]) -> None:
        """Looks again, beside whatever else goes on, where what ``changed`` may be a plugin's; an empty set says that
        anything may have."""
        if changed and not any(under_any(self._folders, path) for path in changed):
            return
        self._following.again()

    async def close(self) -> None:
        """Follows no more."""
        await self._following.close()

    def _search(self) -> LookedAt:
        memory, machine = Memory(self._memory), Machine(self._environment)
        search = PluginSearch(memory)
        search.run(self._layers)
        self._memory = memory
        judged = [self._copied(one) if isinstance(one, Plugin) and self._lasting else one for one in search.found]
        plugins = [one for one in judged if isinstance(one, Plugin)]
        unfit = [one for one in judged if isinstance(one, NoPlugin)]
        good = {one.location: one for one in plugins}
        kept = [self._good[one.location] for one in unfit if one.location in self._good]
        self._good = good | {one.location: one for one in kept}
        found = tuple(sorted(self._good.values(), key=lambda one: one.location))
        missing = {one.location: lacks for one in found if (lacks := lacking(one, machine))}
        stale = frozenset(one.location for one in kept)
        return LookedAt(self._layers, found, tuple(unfit), tuple(search.problems), missing, stale)

    def _copied(self, plugin: Plugin) -> Plugin | NoPlugin:
        try:
            self._verified.make(plugin)
        except CallFailed as failed:
            return refused(plugin.layer, plugin.location, PackageProblem(HERE, failed.error.message))
        return plugin


def _changes(before: PluginCatalogue, after: PluginCatalogue) -> dict[str, list[str]]:
    """Names that came, changed and went, and folders that are refused by now; empty where nothing did."""
    old, new = {one.name: _state(one) for one in before.plugins}, {one.name: _state(one) for one in after.plugins}
    told = {one.found.location: one.found.diagnostics for one in before.refused}
    changes = {
        "added": sorted(new.keys() - old.keys()),
        "changed": sorted(name for name in new.keys() & old.keys() if new[name] != old[name]),
        "removed": sorted(old.keys() - new.keys()),
        "rejected": sorted(
            one.found.location for one in after.refused if told.get(one.found.location) != one.found.diagnostics
        ),
    }
    return changes if any(changes.values()) else {}


def _state(one: Listed) -> tuple[object, ...]:
    return one.plugin.location, one.plugin.digest, one.reason, one.missing
