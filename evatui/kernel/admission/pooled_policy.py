"""Who gets what: the policy files of a workspace, pooled into one value.

Default deny. A broken file leaves the last valid policy in force; with none before, nothing is granted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from evatui.kernel.admission.grants import AREAS, covers_glob, intersect, unite
from evatui.kernel.admission.manifest import permissions
from evatui.kernel.admission.policy_rules import POLICY
from evatui.kernel.model.manifest import AuditLevel, AuditLevels, Manifest, TrustSource
from evatui.kernel.model.permissions import NOTHING, Permissions

__all__ = ["Deny", "GrantRule", "Granted", "Policy", "PolicyFile", "empty_policy", "make_policy"]

_CACHED = 4_096


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

    def matches(self, manifest: Manifest) -> bool:
        return (
            _among(manifest.id, self.ids)
            and _among(manifest.kind.value, self.kinds)
            and _among(manifest.trust.value, self.sources)
        )


@dataclass(frozen=True, slots=True)
class Deny:
    ids: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def name(self, capability: str) -> bool:
        """May nobody provide or call this capability name?"""
        return _among(capability, self.capabilities)

    def manifest(self, manifest: Manifest) -> bool:
        """Is the capability denied as a whole: by its id, its kind, or a name that it provides?"""
        return (
            _among(manifest.id, self.ids)
            or _among(manifest.kind.value, self.kinds)
            or any(map(self.name, manifest.capabilities))
        )


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
        return self.free_names or _among(capability, self.names)


@dataclass(frozen=True, slots=True)
class Policy:
    """``settings`` is the whole pooled policy with its defaults; ``epoch`` changes whenever a file's bytes do.

    ``valid`` is False where no valid policy was ever read: then nothing is granted.
    """

    epoch: str
    valid: bool
    grants: tuple[GrantRule, ...]
    deny: Deny
    ceilings: Mapping[str, int]
    trusted_sources: tuple[TrustSource, ...]
    audit: AuditLevels
    credentials: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Any]
    _effective: dict[int, tuple[Manifest, Permissions]] = field(default_factory=dict, repr=False, compare=False)
    """By identity, which the kept manifest makes unique: hashing all permissions would cost more than the lookup."""

    def granted(self, manifest: Manifest) -> Granted:
        """The pooled grants that match, without what deny takes away."""
        rules = tuple(rule for rule in self.grants if rule.matches(manifest))
        if self.deny.manifest(manifest):
            return Granted(NOTHING, (), False, ())
        pooled = self._without_denied(unite(rule.permissions for rule in rules))
        names = tuple(dict.fromkeys(name for rule in rules for name in rule.names or ()))
        free_names = not rules or any(rule.names is None for rule in rules)
        return Granted(pooled, names, free_names, rules)

    def effective(self, manifest: Manifest) -> Permissions:
        """What the manifest asks for and the policy gives now. Cheap: asked at every host call, on any thread."""
        known = self._effective.get(id(manifest))
        if known is not None and known[0] is manifest:
            return known[1]
        found = intersect(self._without_denied(manifest.permissions), self.granted(manifest).permissions)
        if len(self._effective) >= _CACHED:
            self._effective.clear()
        self._effective[id(manifest)] = (manifest, found)
        return found

    @property
    def require_os_sandbox(self) -> bool:
        """Must what comes from a third party, or from nobody knows where, run in a process with an OS sandbox?"""
        return bool(self.settings["isolation"]["require_os_sandbox"])

    def denies(self, capability_id: str) -> bool:
        """Is this id named under ``deny``?"""
        return _among(capability_id, self.deny.ids)

    def sources(self, manifest: Manifest) -> list[dict[str, Any]]:
        """For each entry that is in force, the grants that gave it: ``{permission, entry, granted_by}``."""
        in_force, rules = self.effective(manifest), self.granted(manifest).rules
        return [
            {
                "permission": ".".join(area.path),
                "entry": list(entry) if isinstance(entry, tuple) else entry,
                "granted_by": [rule.place for rule in rules if area.gives(rule.permissions, entry)],
            }
            for area in AREAS
            for entry in area.entries(in_force)
        ]

    def audit_levels(self, manifest: Manifest) -> AuditLevels:
        """The lower of what the manifest wants and the policy allows."""
        return AuditLevels(
            _lower(manifest.audit.log_input, self.audit.log_input),
            _lower(manifest.audit.log_output, self.audit.log_output),
        )

    def _without_denied(self, asked: Permissions) -> Permissions:
        kept = tuple(name for name in asked.adapters.capabilities if not self.deny.name(name))
        return replace(asked, adapters=replace(asked.adapters, capabilities=kept))


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A valid file: ``stated`` is what it says, without defaults; ``grant_lines`` are the lines of its grants."""

    path: str
    digest: str
    stated: Mapping[str, Any]
    grant_lines: tuple[int, ...]


def make_policy(files: Iterable[PolicyFile]) -> Policy:
    """The files of a workspace, pooled."""
    values: dict[str, Any] = {}
    grants: list[GrantRule] = []
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.path}\0{file.digest}\0".encode())
        values = POLICY.pooled(values, file.stated)
        lines = zip(file.grant_lines, file.stated.get("grants", ()), strict=True)
        grants += [_rule(file.path, line, raw) for line, raw in lines]
    return _policy(digest.hexdigest(), grants, POLICY.complete(values))


def _policy(epoch: str, grants: Sequence[GrantRule], settings: Mapping[str, Any], *, valid: bool = True) -> Policy:
    audit = settings["audit"]
    return Policy(
        epoch=epoch,
        valid=valid,
        grants=tuple(grants),
        deny=Deny(**{name: tuple(entries) for name, entries in settings["deny"].items()}),
        ceilings=MappingProxyType(settings["ceilings"]),
        trusted_sources=tuple(map(TrustSource, settings["trusted_sources"])),
        audit=AuditLevels(AuditLevel(audit["log_input"]), AuditLevel(audit["log_output"])),
        credentials=MappingProxyType(settings["credentials"]),
        settings=MappingProxyType(settings),
    )


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


def _among(word: str, patterns: Sequence[str] | None) -> bool:
    return patterns is None or any(covers_glob(pattern, word) for pattern in patterns)


def _lower(mine: AuditLevel, theirs: AuditLevel) -> AuditLevel:
    return min(mine, theirs, key=list(AuditLevel).index)


def empty_policy(epoch: str) -> Policy:
    """Where no valid policy was ever read: grants nothing, with the default ceilings."""
    return _policy(epoch, (), POLICY.complete({}), valid=False)
