"""The skills of a running workspace: looked for, kept, and told of when they change."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evatui.extensions.shared.folders import SKILL_FILE
from evatui.extensions.shared.following import Following
from evatui.extensions.shared.layers import Layer, LayerKind
from evatui.extensions.shared.local import UserLocal
from evatui.extensions.shared.machine import Machine
from evatui.extensions.skills.catalogue import EMPTY, Catalogue, Copy, Looked, catalogue
from evatui.extensions.skills.search import Memory, Roots, Search
from evatui.extensions.skills.skill import Skill
from evatui.kernel.workspace.paths import under_any
from evatui.kernel.workspace.settling import settle

__all__ = ["Skills"]

_AGAIN_S = 0.005
_ABSENT_S = 0.030
_EMPTY_S = 0.150
_EMPTY = hashlib.sha256(b"").hexdigest()
"""Of a file that whoever saves it has emptied, and not written yet."""

Emit = Callable[[str, Mapping[str, Any]], object]


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass over the disk, and what it read."""

    looked: Looked
    memory: Memory

    def fingerprint(self) -> object:
        return self.looked


class Skills:
    """``local`` says what the policy in force has to say of the user's own layers; ``environment`` is looked at anew
    each time. For one event loop; the disk is read in threads.

    Where a file is refused that was a skill before, that skill goes on, and is ``stale``.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        local: Callable[[], UserLocal],
        environment: Mapping[str, str],
        emit: Emit,
    ) -> None:
        self._layers = layers
        self._local = local
        self._environment = environment
        self._emit = emit
        self._folders = [layer.folder for layer in layers if layer.kind is LayerKind.PROJECT]
        self._turn = asyncio.Lock()
        self._memory = Memory()
        self._looked: Looked | None = None
        self._good: dict[str, Copy] = {}
        """By location, what was sound last in this run."""
        self._known: tuple[Looked, UserLocal, Catalogue] | None = None
        self._following = Following(self.look, lambda error: self.on_defect(error))
        self.on_change: Callable[[], None] = lambda: None
        """Called where a look found something else than the one before; it must be cheap."""
        self.on_defect: Callable[[Exception], None] = lambda error: None
        """Called where a look ended in a defect of the program."""

    @property
    def latest(self) -> Catalogue:
        """As of the last look, under the policy of now; empty before the first one. No IO."""
        looked, local = self._looked, self._local()
        if looked is None:
            return EMPTY
        if self._known is None or self._known[0] is not looked or self._known[1] != local:
            self._known = looked, local, catalogue(looked, local)
        return self._known[2]

    @property
    def looked(self) -> bool:
        """Has there been a first look?"""
        return self._looked is not None

    async def known(self) -> Catalogue:
        """`latest`, after the first look."""
        return self.latest if self.looked else await self.look()

    async def look(self) -> Catalogue:
        """As the disk and the machine have it now."""
        async with self._turn:
            before, first = self.latest, self._looked is None
            looked = await asyncio.to_thread(self._search)
            if looked != self._looked:
                self._looked = looked
                if not first and (changes := _changes(before, self.latest)):
                    self._emit("/skill/changed", changes)
                self.on_change()
        return self.latest

    def follow(self, changed: frozenset[str]) -> None:
        """Looks again, beside whatever else goes on, where what ``changed`` may be a skill's; an empty set says that
        anything may have."""
        if changed and not any(self._concerns(path) for path in changed):
            return
        self._following.again()

    async def close(self) -> None:
        """Follows no more."""
        await self._following.close()

    def _concerns(self, path: str) -> bool:
        return under_any(self._folders, path) or path.lower().endswith(SKILL_FILE.lower())

    def _search(self) -> Looked:
        """What differs from the last look counts once it reads the same twice: nobody is told half of a save."""
        found, rests = settle(self._pass, self._rests)
        if self._looked is not None and not rests:
            return self._looked  # whoever writes there is not done, and is heard of again
        self._memory = found.memory
        self._good = {copy.location: copy for copy in found.looked.copies}
        return found.looked

    def _rests(self, found: _Pass, unchanged_s: float) -> bool:
        before = self._looked
        if before is None or found.looked == before:
            return True
        if any(one.digest == _EMPTY for one in found.looked.refused):
            return unchanged_s >= _EMPTY_S
        gone = {one.location for one in before.copies} - {one.location for one in found.looked.copies}
        return unchanged_s >= (_ABSENT_S if gone else _AGAIN_S)

    def _pass(self) -> _Pass:
        memory, machine = Memory(self._memory), Machine(self._environment)
        with Roots(self._layers) as roots:
            searches = [(layer, Search(layer, roots, memory)) for layer in self._layers]
            found = [one for _, search in searches for one in search.run()]
        copies = [
            Copy(
                one.layer,
                one.location,
                one.skill,
                one.digest,
                one.package,
                machine.missing(one.skill.bins, one.skill.env),
            )
            for one in found
            if isinstance(one.skill, Skill)
        ]
        refused = tuple(one for one in found if not isinstance(one.skill, Skill))
        kept = (self._good[one.location] for one in refused if one.location in self._good)
        copies += (replace(one, stale=True, missing=machine.missing(one.skill.bins, one.skill.env)) for one in kept)
        problems = tuple(problem for _, search in searches for problem in search.problems)
        return _Pass(Looked(tuple(self._layers), tuple(copies), refused, problems), memory)


def _changes(before: Catalogue, after: Catalogue) -> dict[str, list[str]]:
    """Names that came, changed and went, and paths that are refused by now; empty where nothing did."""
    old = {one.name: _state(one.copy, one.reason) for one in before.skills}
    new = {one.name: _state(one.copy, one.reason) for one in after.skills}
    told = {one.path: one.diagnostics for one in before.refused}
    changes = {
        "added": sorted(new.keys() - old.keys()),
        "changed": sorted(name for name in new.keys() & old.keys() if new[name] != old[name]),
        "removed": sorted(old.keys() - new.keys()),
        "rejected": sorted(one.path for one in after.refused if told.get(one.path) != one.diagnostics),
    }
    return changes if any(changes.values()) else {}


def _state(copy: Copy, reason: str) -> tuple[object, ...]:
    return copy.location, copy.digest, copy.package, copy.missing, copy.stale, reason
