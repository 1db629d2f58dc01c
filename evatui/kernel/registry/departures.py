"""The order in which all leave when a runtime ends: whoever calls others leaves before them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from evatui.kernel.model.permissions import covers_name
from evatui.kernel.registry.table import Table

__all__ = ["departures"]

_Node = tuple[bool, str]
"""A capability (True), or a name or pattern that some ask for: it leads on to all who provide it."""


def departures(table: Table) -> Iterator[tuple[str, ...]]:
    """Ids in groups: nobody of a group is called by one of a later group. Who call each other are in one group."""
    after = _after(table)
    levels: dict[_Node, int] = defaultdict(int)
    groups: dict[int, set[str]] = defaultdict(set)
    for circle in reversed(_circles(after)):  # callers before whom they call
        level = max(levels[node] for node in circle)
        found = {name for is_id, name in circle if is_id}
        groups[level] |= found
        for called in {called for node in circle for called in after[node]}.difference(circle):
            levels[called] = max(levels[called], level + bool(found))
    for _, group in sorted(groups.items()):
        if group:
            yield tuple(key for key in table.active if key in group)


def _after(table: Table) -> dict[_Node, Sequence[_Node]]:
    after: dict[_Node, Sequence[_Node]] = {}
    for key, generation in table.active.items():
        asked = generation.manifest.permissions.adapters.capabilities
        after[True, key] = [(False, name) for name in asked]
        after |= {(False, name): () for name in asked}
    for is_id, name in after:
        if not is_id:
            covered = (one for one in table.providers if covers_name(name, one)) if "*" in name else (name,)
            providers = {key: True for one in covered for key in table.providers.get(one, ())}
            after[False, name] = [(True, key) for key in providers if key in table.active]
    return after


def _circles(after: dict[_Node, Sequence[_Node]]) -> list[list[_Node]]:
    """The strongly connected parts of the graph, whoever is called before who calls (Tarjan, without recursion)."""
    found: list[list[_Node]] = []
    number: dict[_Node, int] = {}
    lowest: dict[_Node, int] = {}
    open_nodes: list[_Node] = []
    done: set[_Node] = set()
    for root in after:
        trail = [(root, iter(after[root]))] if root not in number else []
        while trail:
            node, rest = trail[-1]
            if node not in number:
                number[node] = lowest[node] = len(number)
                open_nodes.append(node)
            for called in rest:
                if called not in number:
                    trail.append((called, iter(after[called])))
                    break
                if called not in done:
                    lowest[node] = min(lowest[node], number[called])
            else:
                trail.pop()
                if trail:
                    caller = trail[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[node])
                if lowest[node] == number[node]:
                    circle = []
                    while node not in done:
                        circle.append(open_nodes.pop())
                        done.add(circle[-1])
                    found.append(circle)
    return found
