"""What a policy lets nobody have, whatever it grants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evatui.kernel.admission.grants import covers_glob
from evatui.kernel.model.ids import fold
from evatui.kernel.model.manifest import Kind, Manifest

__all__ = ["Deny", "among", "deny_of", "taken"]


@dataclass(frozen=True, slots=True)
class Deny:
    """Patterns of what nobody may have. Case makes no difference to ids and names here, as it does to a grant: no other
    spelling gets past."""

    ids: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def id(self, capability_id: str) -> bool:
        return taken(capability_id, self.ids)

    def kind(self, kind: str) -> bool:
        return among(kind, self.kinds)

    def name(self, capability: str) -> bool:
        """May nobody provide or call this capability name?"""
        return taken(capability, self.capabilities)

    def manifest(self, manifest: Manifest) -> bool:
        """Is the capability denied as a whole: by its id, its kind, or a name that it provides?"""
        return self.id(manifest.id) or self.kind(manifest.kind) or any(map(self.name, manifest.capabilities))


def deny_of(settings: Mapping[str, Any]) -> Deny:
    """A kind of skill that ``skills.allow_kinds`` does not name is a kind that is denied."""
    ways = {way: tuple(entries) for way, entries in settings["deny"].items()}
    skills = () if Kind.LUA_SKILL in settings["skills"]["allow_kinds"] else (Kind.LUA_SKILL.value,)
    return Deny(**{**ways, "kinds": (*ways["kinds"], *skills)})


def among(word: str, patterns: Sequence[str] | None) -> bool:
    if not patterns:
        return patterns is None
    return any(covers_glob(pattern, word) for pattern in patterns)


def taken(word: str, patterns: Sequence[str]) -> bool:
    if not patterns:
        return False
    folded = fold(word)
    return any(covers_glob(fold(pattern), folded) for pattern in patterns)
