"""A look at the disk, and what it would change: all of it, or no more than the files that were named."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, replace

from evatui.kernel.admission.dependencies import linked
from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate, Rejection, Verdict
from evatui.kernel.model.exposed import handler_name, likeness
from evatui.kernel.model.ids import fold
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.plan import Action, Change, change_of, compare, main_verdicts
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.ruling import Ruling
from evatui.kernel.registry.scan import Scan, Scanner

__all__ = ["SETTLE_SECONDS", "Look", "Looking"]

SETTLE_SECONDS = 0.05
"""A file that is gone counts as gone only when it still is after this long: editors replace by unlink and create."""
_A_FEW = 4
_LEISURE_SECONDS = 0.03
"""A few are read in some two milliseconds: a small part of a core, since saves and calls go on beside it."""


@dataclass(frozen=True, slots=True)
class Look:
    """``changes`` in the order of ids, unchanged ones too; ``strays`` are the refusals that belong to none, by path."""

    scan: Scan
    changes: list[Change]
    strays: Mapping[str, Rejection]


class Looking:
    """One look at a time. ``still`` says why only what someone asked for is to be applied, empty where all is."""

    def __init__(self, registry: Registry, scanner: Scanner, gate: Gate) -> None:
        self._registry = registry
        self._scanner = scanner
        self._gate = gate
        self._named: dict[str, Verdict] = {}
        """The verdicts of the last look, by id."""

    async def at_all(self, changed: frozenset[str] | None, *, explicit: bool, still: str, settle: bool = True) -> Look:
        """Reads the files ``changed`` again, and whatever else has moved by its signature; None: all files.

        ``explicit``: someone asked, so a refused or unwatched version is tried again. ``settle``: what is gone is
        looked for once more.
        """
        scan = await self._scan(changed, settle=settle)
        named, strays = main_verdicts(scan.verdicts, self._registry.capabilities)
        serving = {key: generation.digest for key, generation in self._registry.table.active.items()}
        named = linked(named, serving, {name for one in scan.adapters for name in one.capabilities})
        changes = compare(named, self._registry.capabilities, explicit=explicit, still=still)
        self._named = named
        return Look(scan, await self._ruled(changes, scan.policy, frozenset(named)), strays)

    async def at(self, changed: frozenset[str], policy: Policy, still: str) -> list[Change] | None:
        """The changes that lie in the files ``changed``; None where more than those files may have to do with it.

        It takes as long for a thousand capabilities as for one.
        """
        again = await asyncio.to_thread(self._again, changed, policy)
        if again is None or any(self._named.get(old.id) is not old for old, _, _ in again):
            return None
        self._named |= {new.id: new for _, new, _ in again}
        known = self._registry.capabilities
        changes = [
            (change_of(new.id, new, known.get(new.id), explicit=False, still=still), ruling) for _, new, ruling in again
        ]
        return [change if _rests(change) else replace(change, ruling=ruling) for change, ruling in changes]

    def _again(self, changed: frozenset[str], policy: Policy) -> list[tuple[Candidate, Candidate, Ruling]] | None:
        """Blocking. What they make of which verdicts, ruled on by the way: nearly all of them go into service."""
        again = self._scanner.again(changed)
        if again is None:
            return None
        return [(old, new, self._gate.rule(new, policy, self._named.keys())) for old, new in again]

    async def moved(self) -> bool:
        """Is there anything else on disk than what was read last? By signatures; nothing is read."""
        return await asyncio.to_thread(self._scanner.moved)

    async def unlike(self) -> AsyncIterator[frozenset[str]]:
        """Reads all files again, a few at a time and at leisure, and names those that are not what was read last.

        A change that moved no signature is rare and can wait; a save that comes meanwhile cannot.
        """
        manifests = self._scanner.manifests
        for first in range(0, len(manifests), _A_FEW):
            if unlike := await asyncio.to_thread(self._scanner.unlike, manifests[first : first + _A_FEW]):
                yield unlike
            await asyncio.sleep(_LEISURE_SECONDS)

    async def _ruled(self, changes: list[Change], policy: Policy, present: Collection[str]) -> list[Change]:
        if all(map(_rests, changes)):
            return changes
        return await asyncio.to_thread(self._rule, changes, policy, present)

    def _rule(self, changes: list[Change], policy: Policy, present: Collection[str]) -> list[Change]:
        """Blocking. Each change with what the gate says of it."""
        return [
            replace(change, ruling=self._gate.rule(change.verdict, policy, present))
            if isinstance(change.verdict, Candidate) and not _rests(change)
            else change
            for change in changes
        ]

    async def _scan(self, changed: frozenset[str] | None, *, settle: bool) -> Scan:
        scan = await asyncio.to_thread(self._scanner.scan, changed, self._owners(), self._exposed())
        if settle and self._lost(scan):
            await asyncio.sleep(SETTLE_SECONDS)
            scan = await asyncio.to_thread(self._scanner.scan, frozenset(), self._owners(), self._exposed())
        return scan

    def _owners(self) -> dict[str, str]:
        serving = (c for c in self._registry.capabilities.values() if c.active is not None)
        return {fold(capability.id): capability.path for capability in serving}

    def _exposed(self) -> dict[str, str]:
        handlers = ((handler_name(g.manifest), g.candidate.path) for g in self._registry.table.active.values())
        return {likeness(name): path for name, path in handlers if name is not None}

    def _lost(self, scan: Scan) -> bool:
        """Is a file gone that was there: a manifest, or one that a serving version was made of?"""
        for capability in self._registry.capabilities.values():
            if capability.gone:
                continue
            verdict = scan.verdicts.get(capability.path)
            if verdict is None or (isinstance(verdict, Rejection) and verdict.missing and capability.active):
                return True
        return False


def _rests(change: Change) -> bool:
    return change.action is Action.UNCHANGED
