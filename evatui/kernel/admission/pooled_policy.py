"""Who gets what: the layers of the policy as one value. In force is what every layer allows.

Each layer counts with its defaults, so that an operator's policy without a grant grants nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from types import MappingProxyType
from typing import Any

from evatui.kernel.admission.deny import Deny, deny_of
from evatui.kernel.admission.grants import AREAS, intersect
from evatui.kernel.admission.layer import Granted, GrantRule, Layer, LayerName
from evatui.kernel.admission.policy_rules import POLICY
from evatui.kernel.model.manifest import AuditLevel, AuditLevels, Manifest, TrustSource
from evatui.kernel.model.permissions import Permissions

__all__ = ["Policy", "make_policy"]

_CACHED = 4_096

_Terms = tuple[Manifest, Permissions, AuditLevels]


@dataclass(frozen=True, slots=True)
class Policy:
    """``layers`` has the operator's first, where there is one; ``settings`` is what all of them allow.

    ``epoch`` changes whenever a file's bytes do. ``valid`` is False where a layer has no valid file: then
    nothing is granted.
    """

    layers: tuple[Layer, ...]
    epoch: str
    valid: bool
    grants: tuple[GrantRule, ...]
    deny: Deny
    ceilings: Mapping[str, int]
    trusted_sources: tuple[TrustSource, ...]
    audit: AuditLevels
    credentials: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Any]
    _terms: dict[int, _Terms] = field(default_factory=dict, repr=False, compare=False)
    """By identity, which the kept manifest makes unique: hashing all permissions would cost more than the lookup."""
    _known: dict[tuple[Permissions, Permissions], Permissions] = field(default_factory=dict, repr=False, compare=False)

    def granted(self, manifest: Manifest) -> Granted:
        """What every layer grants, without what deny takes away."""
        first, *others = [layer.granted(manifest) for layer in self.layers]
        return reduce(Granted.and_by, others, first)

    def effective(self, manifest: Manifest) -> Permissions:
        """What the manifest asks for and the policy gives now. Cheap: asked at every host call, on any thread."""
        known = self._terms.get(id(manifest))
        return (known if known is not None and known[0] is manifest else self._worked_out(manifest))[1]

    def audit_levels(self, manifest: Manifest) -> AuditLevels:
        """The lower of what the manifest wants and the policy allows. As cheap."""
        known = self._terms.get(id(manifest))
        return (known if known is not None and known[0] is manifest else self._worked_out(manifest))[2]

    def levels_within(self, levels: AuditLevels) -> AuditLevels:
        """The lower of ``levels`` and what the policy allows."""
        return _levels(levels, self.audit)

    def _worked_out(self, manifest: Manifest) -> _Terms:
        permissions = self._met(manifest.permissions, self.granted(manifest).permissions)
        levels = _levels(manifest.audit, self.audit)
        if len(self._terms) >= _CACHED:
            self._terms.clear()
        found = self._terms[id(manifest)] = (manifest, permissions, levels)
        return found

    def _met(self, asked: Permissions, given: Permissions) -> Permissions:
        """Many manifests ask for the same."""
        found = self._known.get((asked, given))
        if found is None:
            both = intersect(self._without_denied(asked), given)
            found = replace(both, adapters=replace(both.adapters, denied=self.deny.capabilities))
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[asked, given] = found
        return found

    @property
    def require_os_sandbox(self) -> bool:
        """Must what comes from a third party, or from nobody knows where, run in a process with an OS sandbox?"""
        return bool(self.settings["isolation"]["require_os_sandbox"])

    def layer(self, name: LayerName) -> Layer | None:
        return next((layer for layer in self.layers if layer.name is name), None)

    def denies(self, capability_id: str, manifest: Manifest | None) -> bool:
        """Does ``deny`` name this id, or the kind or a name of its ``manifest``, where one could be read?"""
        return self.deny.id(capability_id) or (manifest is not None and self.deny.manifest(manifest))

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

    def _without_denied(self, asked: Permissions) -> Permissions:
        kept = tuple(name for name in asked.adapters.capabilities if not self.deny.name(name))
        if kept == asked.adapters.capabilities:
            return asked
        return replace(asked, adapters=replace(asked.adapters, capabilities=kept))


def make_policy(*layers: Layer) -> Policy:
    """The layers as one, the operator's first. There is at least the workspace's."""
    settings = reduce(POLICY.met, (layer.settings for layer in layers))
    audit = settings["audit"]
    return Policy(
        layers=layers,
        epoch="|".join(layer.epoch for layer in layers),
        valid=all(layer.valid for layer in layers),
        grants=tuple(rule for layer in layers for rule in layer.grants),
        deny=deny_of(settings),
        ceilings=MappingProxyType(settings["ceilings"]),
        trusted_sources=tuple(map(TrustSource, settings["trusted_sources"])),
        audit=AuditLevels(AuditLevel(audit["log_input"]), AuditLevel(audit["log_output"])),
        credentials=MappingProxyType(settings["credentials"]),
        settings=MappingProxyType(dict(settings)),
    )


_LEVELS = tuple(AuditLevel)


@functools.lru_cache
def _levels(mine: AuditLevels, theirs: AuditLevels) -> AuditLevels:
    return AuditLevels(_lower(mine.log_input, theirs.log_input), _lower(mine.log_output, theirs.log_output))


def _lower(mine: AuditLevel, theirs: AuditLevel) -> AuditLevel:
    return min(mine, theirs, key=_LEVELS.index)
