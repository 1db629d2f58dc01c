"""The immutable index of what serves: publishing is one assignment of a new one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from evatui.kernel.model.manifest import Kind
from evatui.kernel.registry.generation import Generation

__all__ = ["EMPTY_TABLE", "Table"]


def _rank(generation: Generation) -> tuple[int, str]:
    return -generation.manifest.priority, generation.manifest.id


@dataclass(frozen=True, slots=True)
class Table:
    """``active`` by capability id; ``providers`` by capability name, the preferred one first."""

    active: Mapping[str, Generation]
    providers: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, generations: Iterable[Generation]) -> Table:
        active = {generation.manifest.id: generation for generation in generations}
        names: dict[str, list[Generation]] = {}
        for generation in active.values():
            if generation.manifest.kind is not Kind.LUA_MCP_HANDLER:
                for name in generation.manifest.capabilities:
                    names.setdefault(name, []).append(generation)
        providers = {name: tuple(g.manifest.id for g in sorted(found, key=_rank)) for name, found in names.items()}
        return cls(MappingProxyType(active), MappingProxyType(providers))

    def with_active(self, generation: Generation) -> Table:
        """This table with ``generation`` in the place of its capability's former one."""
        return Table.of({**self.active, generation.manifest.id: generation}.values())

    def without(self, capability_id: str) -> Table:
        return Table.of(g for key, g in self.active.items() if key != capability_id)


EMPTY_TABLE = Table(MappingProxyType({}), MappingProxyType({}))
