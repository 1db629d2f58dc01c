"""One layer of the policy: all files of one author, pooled into one value. Default deny.

Matching grants add up, ceilings take the minimum, switches the stricter side, and deny beats every grant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeVar

from evatui.kernel.admission.deny import Deny, among, deny_of, taken
from evatui.kernel.admission.grants import covers_glob, intersect, unite
from evatui.kernel.admission.manifest import permissions
from evatui.kernel.admission.policy_rules import POLICY
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.permissions import NOTHING, Permissions

__all__ = ["GrantRule", "Granted", "Layer", "LayerName", "PolicyFile", "closed_layer", "make_layer"]

_CACHED = 1_024
_LUA_SKILLS = "deny.kinds.lua_skill"
"""Where nothing else denies them, it is what kinds of skills are allowed."""

K = TypeVar("K")


class LayerName(StrEnum):
    """Whose policy it is: the one of the person who runs the runtime, or the one that the workspace brings."""

    OPERATOR = "operator"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class GrantRule:
    """One entry under ``grants``. None in a match is any; ``names`` None is any name not yet provided."""

    file: str
    line: int
    ids: tuple[str, ...] | None
    kinds: tuple[str, ...] | None
    sources: tuple[str, ...] | None
    names: tuple[str, ...] | None
    permissions: Permissions

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    def lists(self, name: str) -> bool:
        """Is this capability name one of those that it grants by name?"""
        return self.names is not None and among(name, self.names)

    def matches(self, manifest: Manifest) -> bool:
        return among(manifest.id, self.ids) and among(manifest.kind, self.kinds) and among(manifest.trust, self.sources)


@dataclass(frozen=True, slots=True)
class Granted:
    """What a manifest may have. ``names`` are patterns of capability names that it may provide by grant;
    ``free_names`` says whether it may also provide any name that no other id provides yet."""

    permissions: Permissions
    names: tuple[str, ...]
    free_names: bool
    rules: tuple[GrantRule, ...]

    def name(self, capability: str) -> bool:
        """May it provide this name, provided that no other id does where it is not granted by name?"""
        return self.free_names or among(capability, self.names)

    def and_by(self, other: Granted) -> Granted:
        """What both give."""
        both = _narrower(self.names, other.names)
        mine = self.names if other.free_names else ()
        theirs = other.names if self.free_names else ()
        return Granted(
            intersect(self.permissions, other.permissions),
            tuple(dict.fromkeys((*mine, *theirs, *both))),
            self.free_names and other.free_names,
            (*self.rules, *other.rules),
        )


@dataclass(frozen=True, slots=True)
class Layer:
    """``settings`` is the pooled layer with its defaults; ``epoch`` changes whenever a file's bytes do.

    ``valid`` is False where no valid file was ever read: then nothing is granted. ``places`` says where a
    rule stands, by its dotted path such as ``ceilings.timeout_ms`` or ``deny.ids.team-*``.
    """

    name: LayerName
    epoch: str
    valid: bool
    grants: tuple[GrantRule, ...]
    deny: Deny
    settings: Mapping[str, Any]
    places: Mapping[str, str]
    _pooled: dict[tuple[int, ...], Granted] = field(default_factory=dict, repr=False, compare=False)
    """What grants come to that match together, by their indexes."""
    _matched: dict[tuple[str, ...], Granted] = field(default_factory=dict, repr=False, compare=False)
    """The same by id, kind and source: one and the same manifest is asked about several times."""

    @property
    def title(self) -> str:
        """As a message names it."""
        return "the operator's policy" if self.name is LayerName.OPERATOR else "the policy"

    @property
    def owner(self) -> str:
        return "the operator's" if self.name is LayerName.OPERATOR else "the policy's"

    def granted(self, manifest: Manifest) -> Granted:
        """The pooled grants that match, without what deny takes away."""
        if self.deny.manifest(manifest):
            return Granted(NOTHING, (), False, ())
        key = manifest.id, manifest.kind, manifest.trust
        found = self._matched.get(key)
        if found is None:
            found = _kept(self._matched, key, self._matching(manifest))
        return found

    def _matching(self, manifest: Manifest) -> Granted:
        indexes = tuple(index for index, rule in enumerate(self.grants) if rule.matches(manifest))
        found = self._pooled.get(indexes)
        if found is None:
            found = _kept(self._pooled, indexes, self._pool(tuple(self.grants[index] for index in indexes)))
        return found

    def _pool(self, rules: tuple[GrantRule, ...]) -> Granted:
        pooled = self.without_denied(unite(rule.permissions for rule in rules))
        names = tuple(dict.fromkeys(name for rule in rules for name in rule.names or ()))
        free_names = not rules or any(rule.names is None for rule in rules)
        return Granted(pooled, names, free_names, rules)

    def without_denied(self, asked: Permissions) -> Permissions:
        kept = tuple(name for name in asked.adapters.capabilities if not self.deny.name(name))
        if kept == asked.adapters.capabilities:
            return asked
        return replace(asked, adapters=replace(asked.adapters, capabilities=kept))

    def place(self, rule: str) -> str:
        """``file:line`` of a rule, or that it is a default."""
        return self.places.get(rule, "default")

    def deny_place(self, way: str, word: str) -> str:
        """Where ``word`` is denied under ``deny.<way>``."""
        entries: Sequence[str] = getattr(self.deny, way)
        return next((self.place(f"deny.{way}.{entry}") for entry in entries if taken(word, (entry,))), "default")


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A file: ``stated`` is what it says, as far as that is valid, without defaults; ``grant_lines`` are the lines of
    its grants, ``lines`` those of its other rules, by their dotted paths."""

    path: str
    digest: str
    stated: Mapping[str, Any]
    grant_lines: tuple[int, ...]
    lines: Mapping[str, int]


def make_layer(name: LayerName, files: Iterable[PolicyFile]) -> Layer:
    known = tuple(files)
    digest = hashlib.sha256()
    grants: list[GrantRule] = []
    for file in known:
        digest.update(f"{file.path}\0{file.digest}\0".encode())
        lines = zip(file.grant_lines, file.stated.get("grants", ()), strict=True)
        grants += [_rule(file.path, line, raw) for line, raw in lines]
    stated = _pooled(known)
    places = _places(known, stated)
    return _layer(name, digest.hexdigest(), grants, POLICY.complete(stated), places, valid=True)


def closed_layer(name: LayerName, epoch: str, files: Iterable[PolicyFile] = ()) -> Layer:
    """Where not all files were ever valid at once: grants nothing, and is no wider than the defaults or than what is
    known of any of the ``files``."""
    known = tuple(files)
    settings = POLICY.met(POLICY.complete({}), POLICY.complete(_pooled(known)))
    return _layer(name, epoch, (), settings, _places(known, settings), valid=False)


def _pooled(files: Sequence[PolicyFile]) -> dict[str, Any]:
    stated: dict[str, Any] = {}
    for file in files:
        stated = POLICY.pooled(stated, file.stated)
    return stated


def _places(files: Sequence[PolicyFile], final: Mapping[str, Any]) -> dict[str, str]:
    return {rule: place for file in reversed(files) for rule, place in _decisive(file, final)}


def _layer(
    name: LayerName,
    epoch: str,
    grants: Sequence[GrantRule],
    settings: Mapping[str, Any],
    places: Mapping[str, str],
    *,
    valid: bool,
) -> Layer:
    return Layer(
        name=name,
        epoch=epoch,
        valid=valid,
        grants=tuple(grants),
        deny=deny_of(settings),
        settings=MappingProxyType(dict(settings)),
        places=MappingProxyType({_LUA_SKILLS: places.get("skills.allow_kinds", "default"), **places}),
    )


def _decisive(file: PolicyFile, pooled: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The rules of a file that came through: of two ceilings only the lower one is in force."""
    for rule, line in file.lines.items():
        section, _, key = rule.partition(".")
        stated, final = file.stated.get(section), pooled.get(section)
        if section == "deny" or not isinstance(stated, Mapping) or stated.get(key) == (final or {}).get(key):
            yield rule, f"{file.path}:{line}"


def _rule(file: str, line: int, raw: Mapping[str, Any]) -> GrantRule:
    match = raw["match"]

    def stated(values: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
        return tuple(values[name]) if name in values else None

    return GrantRule(
        file,
        line,
        ids=stated(match, "ids"),
        kinds=stated(match, "kinds"),
        sources=stated(match, "sources"),
        names=stated(raw, "names"),
        permissions=permissions(raw),
    )


def _kept(known: dict[K, Granted], key: K, found: Granted) -> Granted:
    if len(known) >= _CACHED:
        known.clear()
    known[key] = found
    return found


def _narrower(mine: Sequence[str], theirs: Sequence[str]) -> Iterator[str]:
    for left in mine:
        for right in theirs:
            if covers_glob(right, left):
                yield left
            elif covers_glob(left, right):
                yield right
