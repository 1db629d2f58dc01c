"""The immutable index of what serves: publishing is one assignment of a new one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from evatui.kernel.registry.generation import Generation

__all__ = ["EMPTY_TABLE", "Table"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Table:
    """``active`` by capability id, and ``canaries``, the versions that are tried out beside those; ``providers`` by
    capability name, the preferred one first.

    A changed table shares with the old one what did not change: what is copied is copied as a whole, which takes no
    time to speak of for 10,000 capabilities, and only the names that the old and the new versions provide are ordered
    anew.
    """

    active: MappingProxyType[str, Generation]
    providers: MappingProxyType[str, tuple[str, ...]]
    canaries: MappingProxyType[str, Generation]

    def changed(
        self, active: Mapping[str, Generation | None], canaries: Mapping[str, Generation | None] | None = None
    ) -> Table:
        """This table with other entries; None takes one away."""
        serving, providers = self.active, self.providers
        if active:
            serving = _with(self.active, active)
            providers = self._providers(active, serving)
        return Table(serving, providers, _with(self.canaries, canaries or {}))

    def with_active(self, generation: Generation) -> Table:
        """This table with ``generation`` in the place of its capability's former one, and of its canary."""
        key = generation.manifest.id
        return self.changed({key: generation}, {key: None})

    def without(self, capability_id: str) -> Table:
        return self.changed({capability_id: None}, {capability_id: None})

    def sorted_anew(self, capability_id: str) -> Table:
        """The same generations: one of them became well or unwell, which counts before priority."""
        names = {name: _sorted(self.providers[name], self.active) for name in _names(self.active.get(capability_id))}
        return replace(self, providers=_with(self.providers, names))

    def _providers(
        self, changes: Mapping[str, Generation | None], active: Mapping[str, Generation]
    ) -> MappingProxyType[str, tuple[str, ...]]:
        offers: dict[str, set[str]] = {}
        for key, new in changes.items():
            old = self.active.get(key)
            if old is not None and new is not None and _rank(old) == _rank(new) and _names(old) == _names(new):
                continue
            for name in _names(old):
                offers.setdefault(name, {*self.providers[name]}).discard(key)
            for name in _names(new):
                offers.setdefault(name, {*self.providers.get(name, ())}).add(key)
        return _with(self.providers, {name: _sorted(ids, active) or None for name, ids in offers.items()})


def _with(before: MappingProxyType[str, T], changes: Mapping[str, T | None]) -> MappingProxyType[str, T]:
    """A copy with other entries, or the very same where none differs."""
    if all(before.get(key) is new for key, new in changes.items()):
        return before
    after = before.copy()  # of the dict behind it, at the speed of one
    for key, new in changes.items():
        if new is None:
            after.pop(key, None)
        else:
            after[key] = new
    return MappingProxyType(after)


def _sorted(ids: Iterable[str], active: Mapping[str, Generation]) -> tuple[str, ...]:
    return tuple(sorted(ids, key=lambda key: (_rank(active[key]), key)))


def _rank(generation: Generation) -> tuple[bool, int]:
    return generation.ailment is not None, -generation.manifest.priority


def _names(generation: Generation | None) -> tuple[str, ...]:
    return generation.manifest.provides if generation else ()


EMPTY_TABLE = Table(MappingProxyType({}), MappingProxyType({}), MappingProxyType({}))
