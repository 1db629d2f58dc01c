"""What a capability may do, field by field: the grant that gave each entry, or the rule that took it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from evatui.kernel.admission.grants import AREAS, Area
from evatui.kernel.admission.layer import Granted, Layer, LayerName
from evatui.kernel.admission.pooled_policy import Policy
from evatui.kernel.model.manifest import Manifest

__all__ = ["Taken", "explained", "explained_permissions"]


class Taken(StrEnum):
    """Which kind of rule took something."""

    DENY = "deny"
    ABSENT = "absent"
    CEILING = "ceiling"
    INVALID = "invalid"


_FREE = "a grant that lists no names"


def explained(manifest: Manifest, policy: Policy) -> dict[str, Any]:
    """``{permissions, names, limits, audit}``, JSON-like.

    Each permission and name: ``{permission, entry, in_force, given_by: [{layer, place}], taken_by, why}``, with
    ``taken_by`` null or ``{rule, layer, place}``, and ``why`` the same in a clause. Each limit and audit level:
    ``{limit, value, in_force, ceiling, layer, place}``. A place is ``file:line``, or ``default`` for what no file says.
    """
    return {
        "permissions": explained_permissions(manifest, policy),
        "names": [_with_why(_name(manifest, policy, name)) for name in manifest.capabilities],
        "limits": list(_limits(manifest, policy)),
        "audit": list(_audit(manifest, policy)),
    }


def explained_permissions(manifest: Manifest, policy: Policy) -> list[dict[str, Any]]:
    """The first part of `explained`."""
    return [_with_why(_permission(manifest, policy, area, entry)) for area, entry in _asked(manifest)]


def _with_why(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "why": _because(found)}


def _because(found: Mapping[str, Any]) -> str:
    """Why a permission or a name is in force, or why not, in a clause."""
    taken = found["taken_by"]
    if taken is not None:
        why = {
            Taken.DENY: "denied",
            Taken.ABSENT: "not granted",
            Taken.CEILING: "over the ceiling",
            Taken.INVALID: "no valid policy",
        }[Taken(taken["rule"])]
        some = ", ".join(" ".join(one) if isinstance(one, list) else one for one in found["in_force"])
        return (f"only {some}; the rest is " if some else "") + f"{why}: {_whose(taken)}"
    return "granted by " + ", ".join(dict.fromkeys(map(_whose, found["given_by"])))


def _whose(at: Mapping[str, str]) -> str:
    """A place as a person reads it: the operator's own policy lies beside no workspace."""
    return f"{at['place']} (operator)" if at["layer"] == LayerName.OPERATOR else at["place"]


def _asked(manifest: Manifest) -> Iterator[tuple[Area, Any]]:
    for area in AREAS:
        for entry in area.entries(manifest.permissions):
            yield area, entry


def _permission(manifest: Manifest, policy: Policy, area: Area, entry: Any) -> dict[str, Any]:
    given: list[dict[str, str]] = []
    taken: dict[str, str] | None = None
    for layer in policy.layers:
        granted = layer.granted(manifest)
        given += [
            _at(layer, rule.place)
            for rule in granted.rules
            if any(area.meet(theirs, entry) is not None for theirs in area.entries(rule.permissions))
        ]
        if not area.gives(granted.permissions, entry) or _uncallable(layer, area, entry):
            taken = taken or _taken(manifest, layer, granted, area, entry)
    in_force = [mine for mine in area.entries(policy.effective(manifest)) if area.covers(entry, mine)]
    return {
        "permission": ".".join(area.path),
        "entry": _plain(entry),
        "in_force": [_plain(mine) for mine in in_force],
        "given_by": given,
        "taken_by": taken,
    }


def _taken(manifest: Manifest, layer: Layer, granted: Granted, area: Area, entry: Any) -> dict[str, str]:
    """The rule of ``layer`` that keeps the manifest from having all of ``entry``."""
    if not layer.valid:
        return {"rule": Taken.INVALID.value, **_at(layer, "no valid file")}
    if denied := _denied(manifest, layer):
        return {"rule": Taken.DENY.value, **_at(layer, denied)}
    if _uncallable(layer, area, entry):
        return {"rule": Taken.DENY.value, **_at(layer, layer.deny_place("capabilities", entry))}
    matching = ", ".join(rule.place for rule in granted.rules[:4])
    return {"rule": Taken.ABSENT.value, **_at(layer, matching or "no grant matches")}


def _uncallable(layer: Layer, area: Area, entry: Any) -> bool:
    return area.path == ("adapters", "capabilities") and layer.deny.name(entry)


def _denied(manifest: Manifest, layer: Layer) -> str | None:
    if layer.deny.id(manifest.id):
        return layer.deny_place("ids", manifest.id)
    if layer.deny.kind(manifest.kind.value):
        return layer.deny_place("kinds", manifest.kind.value)
    name = next(filter(layer.deny.name, manifest.capabilities), None)
    return layer.deny_place("capabilities", name) if name is not None else None


def _name(manifest: Manifest, policy: Policy, name: str) -> dict[str, Any]:
    given: list[dict[str, str]] = []
    taken: dict[str, str] | None = None
    for layer in policy.layers:
        granted = layer.granted(manifest)
        listed = [rule.place for rule in granted.rules if rule.lists(name)]
        given += [_at(layer, place) for place in listed or ([_FREE] if granted.free_names else [])]
        if denied := _denied(manifest, layer):
            taken = taken or {"rule": Taken.DENY.value, **_at(layer, denied)}
        elif not granted.name(name):
            place = ", ".join(rule.place for rule in granted.rules[:4])
            taken = taken or {"rule": Taken.ABSENT.value, **_at(layer, place or "no grant matches")}
    in_force = [] if taken else [name]
    return {"permission": "names", "entry": name, "in_force": in_force, "given_by": given, "taken_by": taken}


def _limits(manifest: Manifest, policy: Policy) -> Iterator[dict[str, Any]]:
    for limit in policy.ceilings:
        value = manifest.priority if limit == "priority" else getattr(manifest.limits, limit)
        layer = min(policy.layers, key=lambda layer: layer.settings["ceilings"][limit])
        ceiling = layer.settings["ceilings"][limit]
        yield {
            "limit": limit,
            "value": value,
            "in_force": min(value, ceiling),
            "ceiling": ceiling,
            **_at(layer, layer.place(f"ceilings.{limit}")),
        }


def _audit(manifest: Manifest, policy: Policy) -> Iterator[dict[str, Any]]:
    levels = policy.audit_levels(manifest)
    for name in ("log_input", "log_output"):
        ceiling = policy.settings["audit"][name]
        layer = next(layer for layer in policy.layers if layer.settings["audit"][name] == ceiling)
        yield {
            "limit": name,
            "value": getattr(manifest.audit, name).value,
            "in_force": getattr(levels, name).value,
            "ceiling": ceiling,
            **_at(layer, layer.place(f"audit.{name}")),
        }


def _at(layer: Layer, place: str) -> dict[str, str]:
    return {"layer": layer.name.value, "place": place}


def _plain(entry: Any) -> Any:
    return list(entry) if isinstance(entry, tuple) else entry
