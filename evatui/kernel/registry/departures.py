"""The order in which all leave when a runtime ends: whoever calls others leaves before them."""

from __future__ import annotations

from collections.abc import Iterator

from evatui.kernel.model.permissions import covers_name
from evatui.kernel.registry.table import Table

__all__ = ["departures"]


def departures(table: Table) -> Iterator[tuple[str, ...]]:
    """Ids in groups: nobody of a group is called by one of a later group, but for those that call each other."""
    calls = {key: _called(table, key) for key in table.active}
    left = dict.fromkeys(table.active)
    while left:
        called = {other for key in left for other in calls[key]}
        group = tuple(key for key in left if key not in called) or tuple(left)
        yield group
        for key in group:
            del left[key]


def _called(table: Table, key: str) -> frozenset[str]:
    """Whom it may call, by the names that it asks for; a pattern stands for all names that it covers."""
    asked = table.active[key].manifest.permissions.adapters.capabilities
    names = {name for name in asked if name in table.providers}
    for pattern in (name for name in asked if "*" in name):
        names |= {name for name in table.providers if covers_name(pattern, name)}
    return frozenset(other for name in names for other in table.providers[name] if other != key)
