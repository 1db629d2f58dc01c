"""Permission algebra: what two permissions have in common, and what one asks beyond the other.

Every entry of an intersection is covered by an entry of both sides. For paths, topics and command prefixes
it is exactly what both give; of two overlapping name patterns that do not contain each other it gives nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evatui.kernel.model.permissions import (
    ALL,
    Adapters,
    Events,
    Files,
    Network,
    Permissions,
    Shell,
    covers_command,
    covers_host,
    covers_name,
    covers_path,
    covers_topic,
)

__all__ = ["AREAS", "Area", "Excess", "covers_glob", "excess", "intersect", "unite"]

_WILD = "\x01"
_CACHED = 1_024
"""Answers kept: many capabilities ask for the same, and few policies are in force."""


@dataclass(frozen=True, slots=True)
class Area:
    """One list of entries within permissions: where it stands, and what an entry covers."""

    path: tuple[str, ...]
    entries: Callable[[Permissions], tuple[Any, ...]]
    covers: Callable[[Any, Any], bool]
    """``covers(grant, asked)``: does the one entry give all of the other?"""
    meet: Callable[[Any, Any], Any]
    """The entry for what two entries both give, or None."""

    def gives(self, granted: Permissions, asked: Any) -> bool:
        """Is the entry covered by one of those granted?"""
        return any(self.covers(grant, asked) for grant in self.entries(granted))


@dataclass(frozen=True, slots=True)
class Excess:
    """An entry that is asked for and not granted."""

    area: Area
    entry: Any


def covers_glob(grant: str, asked: str) -> bool:
    """Like `covers_name`, but a narrower pattern is given by a wider one: its ``*`` is one more odd letter."""
    return covers_name(grant, asked) or (ALL in asked and covers_name(grant, asked.replace(ALL, _WILD)))


def _covers_topic(grant: str, asked: str) -> bool:
    return covers_topic(grant, asked) if asked != ALL else grant == ALL


def _narrower(covers: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def meet(left: Any, right: Any) -> Any:
        if covers(right, left):
            return left
        return right if covers(left, right) else None

    return meet


def _common_topic(left: str, right: str) -> str | None:
    """The pattern of exactly those topics that match both."""
    narrower: str | None = _narrower(_covers_topic)(left, right)
    return narrower or _join_segments(left.split("/")[1:], right.split("/")[1:])


def _join_segments(left: list[str], right: list[str]) -> str | None:
    found: list[str] = []
    for index in range(min(len(left), len(right))):
        mine, theirs = left[index], right[index]
        if "**" in (mine, theirs):
            rest = right[index:] if mine == "**" else left[index:]
            return "/" + "/".join(found + rest)
        if mine != theirs and "*" not in (mine, theirs):
            return None
        found.append(theirs if mine == "*" else mine)
    longer = left[len(found) :] or right[len(found) :]
    return "/" + "/".join(found) if longer in ([], ["**"]) else None


def _area(path: str, entries: Callable[[Permissions], tuple[Any, ...]], covers: Callable[[Any, Any], bool]) -> Area:
    return Area(tuple(path.split(".")), entries, covers, _narrower(covers))


AREAS: tuple[Area, ...] = (
    _area("fs.read", lambda p: p.fs.read, covers_path),
    _area("fs.write", lambda p: p.fs.write, covers_path),
    _area("network.hosts", lambda p: p.network.hosts, covers_host),
    _area("network.methods", lambda p: p.network.methods, covers_name),
    _area("shell.commands", lambda p: p.shell.commands, covers_command),
    _area("env", lambda p: p.env, covers_name),
    _area("adapters.capabilities", lambda p: p.adapters.capabilities, covers_glob),
    _area("adapters.providers", lambda p: p.adapters.providers, covers_glob),
    Area(("events", "emit"), lambda p: p.events.emit, _covers_topic, _common_topic),
)


def unite(parts: Iterable[Permissions]) -> Permissions:
    """Grants add up."""
    all_parts = tuple(parts)
    return _permissions(
        {area.path: tuple(dict.fromkeys(entry for part in all_parts for entry in area.entries(part))) for area in AREAS}
    )


def intersect(left: Permissions, right: Permissions) -> Permissions:
    """What both give, in the order of ``left``."""
    return _permissions({area.path: tuple(dict.fromkeys(_meets(area, left, right))) for area in AREAS})


@functools.lru_cache(_CACHED)
def excess(asked: Permissions, granted: Permissions) -> tuple[Excess, ...]:
    """Everything that ``asked`` has beyond ``granted``: each entry must be covered by one granted entry."""
    return tuple(
        Excess(area, entry) for area in AREAS for entry in area.entries(asked) if not area.gives(granted, entry)
    )


def _meets(area: Area, left: Permissions, right: Permissions) -> Iterator[Any]:
    for mine in area.entries(left):
        for theirs in area.entries(right):
            if (entry := area.meet(mine, theirs)) is not None:
                yield entry


def _permissions(entries: Mapping[tuple[str, ...], tuple[Any, ...]]) -> Permissions:
    hosts, methods = entries["network", "hosts"], entries["network", "methods"]
    return Permissions(
        fs=Files(entries["fs", "read"], entries["fs", "write"]),
        network=Network(hosts, methods) if hosts and methods else Network(),
        shell=Shell(entries["shell", "commands"]),
        env=entries["env",],
        adapters=Adapters(entries["adapters", "capabilities"], entries["adapters", "providers"]),
        events=Events(entries["events", "emit"]),
    )
