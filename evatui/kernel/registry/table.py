"""The immutable index of what serves: publishing is one assignment of a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from evatui.kernel.registry.generation import Generation

__all__ = ["EMPTY_TABLE", "Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """``active`` by capability id; ``providers`` by capability name, the preferred one first."""

    active: Mapping[str, Generation]
    providers: Mapping[str, tuple[str, ...]]

    def with_active(self, generation: Generation) -> Table:
        """This table with ``generation`` in the place of its capability's former one."""
        return self._changed(generation.manifest.id, generation)

    def without(self, capability_id: str) -> Table:
        return self._changed(capability_id, None)

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
                providers[name] = tuple(sorted(ids, key=lambda key: (-active[key].manifest.priority, key)))
        return Table(MappingProxyType(active), MappingProxyType(providers))


def _names(generation: Generation | None) -> tuple[str, ...]:
    return generation.manifest.provides if generation else ()


EMPTY_TABLE = Table(MappingProxyType({}), MappingProxyType({}))
