"""What installing a package brings, as the packages that are installed here tell it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["brought_by"]


def brought_by(asked: Iterable[Requirement]) -> set[str]:
    """The canonical names of the packages that are asked for, and of all that those ask for."""
    waiting = [requirement for requirement in asked if _applies(requirement, {""})]
    found: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted = waiting.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key not in found:
            found.add(key)
            more = map(Requirement, distribution(wanted.name).requires or ())
            waiting += [requirement for requirement in more if _applies(requirement, wanted.extras or {""})]
    return {name for name, _ in found}


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)
