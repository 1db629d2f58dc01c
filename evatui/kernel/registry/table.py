"""The immutable index of what serves: publishing is one assignment of a new one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from evatui.kernel.registry.generation import Generation

__all__ = ["EMPTY_TABLE", "Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """``active`` by capability id, and ``canaries``, the versions that are tried out beside those; ``providers`` by
    capability name, the preferred one first."""

    active: Mapping[str, Generation]
    providers: Mapping[str, tuple[str, ...]]
    canaries: Mapping[str, Generation] = field(default_factory=lambda: MappingProxyType({}))

    def with_active(self, generation: Generation) -> Table:
        """This table with ``generation`` in the place of its capability's former one, and of its canary."""
        return self._changed(generation.manifest.id, generation)

    def without(self, capability_id: str) -> Table:
        return self._changed(capability_id, None)

    def with_canary(self, generation: Generation) -> Table:
        """This table with ``generation`` beside the one that is active, and stays it."""
        return replace(self, canaries=MappingProxyType({**self.canaries, generation.manifest.id: generation}))

    def without_canary(self, capability_id: str) -> Table:
        left = {key: generation for key, generation in self.canaries.items() if key != capability_id}
        return replace(self, canaries=MappingProxyType(left))

    def sorted_anew(self, capability_id: str) -> Table:
        """The same generations: one of them became well or unwell, which counts before priority."""
        providers = dict(self.providers)
        for name in _names(self.active.get(capability_id)):
            providers[name] = _sorted(providers[name], self.active)
        return replace(self, providers=MappingProxyType(providers))

    def _changed(self, capability_id: str, new: Generation | None) -> Table:
        """Only the names that the old and the new one provide are ordered anew."""
        old = self.active.get(capability_id)
        active = dict(self.active)
        active.pop(capability_id, None)
        if new is not None:
            active[capability_id] = new
        providers = dict(self.providers)
        for name in {*_names(old), *_names(new)}:
            ids = [key for key in providers.pop(name, ()) if key != capability_id]
            if name in _names(new):
                ids.append(capability_id)
            if ids:
                providers[name] = _sorted(ids, active)
        canaries = self.without_canary(capability_id).canaries if capability_id in self.canaries else self.canaries
        return Table(MappingProxyType(active), MappingProxyType(providers), canaries)


def _sorted(ids: Iterable[str], active: Mapping[str, Generation]) -> tuple[str, ...]:
    return tuple(sorted(ids, key=lambda key: (active[key].ailment is not None, -active[key].manifest.priority, key)))


def _names(generation: Generation | None) -> tuple[str, ...]:
    return generation.manifest.provides if generation else ()


EMPTY_TABLE = Table(MappingProxyType({}), MappingProxyType({}))
