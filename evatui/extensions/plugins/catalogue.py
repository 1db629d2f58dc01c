"""All layers over each other: which plugin a name stands for, whether it can be run, and what it keeps from sight."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evatui.extensions.plugins.layers import PluginLayer
from evatui.extensions.plugins.plugin import NoPlugin, Plugin, warning
from evatui.extensions.plugins.signature import Signed
from evatui.extensions.shared.local import UserLocal
from evatui.extensions.shared.machine import Machine
from evatui.kernel.admission.policy import Policy
from evatui.kernel.model.diagnostic import Diagnostic, Level

__all__ = ["EMPTY", "Listed", "LookedAt", "PluginCatalogue", "Refusal", "Rules", "catalogue", "lacking", "rules_of"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What the policy in force has to say. Without one nothing of the user's own is used."""

    require_signed: bool = False
    keys: tuple[str, ...] = ()
    local: UserLocal = UserLocal(False)


@dataclass(frozen=True, slots=True)
class LookedAt:
    """One look at the disk, before any policy. ``stale``: locations where the disk holds something else by now."""

    layers: tuple[PluginLayer, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    refused: tuple[NoPlugin, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    missing: Mapping[str, tuple[str, ...]] | None = None
    stale: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What a name stands for. ``reason`` says why it cannot be used, empty where it can: ``missing`` (in ``missing``),
    ``policy_denied`` or ``signature_invalid``. ``stale``: what the disk holds by now is refused, and this goes on."""

    plugin: Plugin
    signed: Signed
    reason: str
    missing: tuple[str, ...]
    shadows: tuple[Plugin, ...]
    diagnostics: tuple[Diagnostic, ...]
    stale: bool = False

    @property
    def name(self) -> str:
        return self.plugin.name

    @property
    def available(self) -> bool:
        return not self.reason


@dataclass(frozen=True, slots=True)
class Refusal:
    """``instead`` is the location of the plugin that goes by its name, empty where none does."""

    found: NoPlugin
    instead: str = ""


@dataclass(frozen=True, slots=True)
class PluginCatalogue:
    """``plugins`` by name, ``layers`` from the highest to the lowest."""

    layers: tuple[PluginLayer, ...] = ()
    plugins: tuple[Listed, ...] = ()
    refused: tuple[Refusal, ...] = ()
    problems: tuple[Diagnostic, ...] = ()

    def named(self, name: str) -> Listed | None:
        return next((one for one in self.plugins if one.name == name), None)


EMPTY = PluginCatalogue()


def rules_of(policy: Policy | None, local: Callable[[Policy | None], UserLocal]) -> Rules:
    if policy is None:
        return Rules()
    said = policy.settings["plugins"]
    return Rules(said["require_signed"], tuple(said["keys"]), local(policy))


_SYSTEM = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
"""As manifests write it."""


def lacking(plugin: Plugin, machine: Machine) -> tuple[str, ...]:
    """What it requires and is not there, each in words."""
    wanted = plugin.manifest.requires
    told = [f"binary '{name}' not found on PATH" for name in machine.missing(wanted.bins, ())]
    told += [f"env var '{name}' is not set" for name in machine.missing((), wanted.env)]
    if wanted.os and _SYSTEM not in wanted.os:
        told.append(f"current OS '{_SYSTEM}' not in allowed list [{', '.join(wanted.os)}]")
    return tuple(told)


def catalogue(looked: LookedAt, rules: Rules) -> PluginCatalogue:
    """The higher layer wins by name; what the policy keeps from use wins over nothing that can be used."""
    rank = {one.layer: at for at, one in reversed(list(enumerate(looked.layers)))}

    def order(plugin: Plugin) -> tuple[bool, int, str]:
        return _denied(plugin, rules), rank[plugin.layer], plugin.location

    by_name: dict[str, list[Plugin]] = {}
    for plugin in sorted(looked.plugins, key=order):
        by_name.setdefault(plugin.name, []).append(plugin)
    missing = looked.missing or {}
    plugins = tuple(_listed(by_name[name], rules, missing, looked.stale) for name in sorted(by_name))
    serving = {one.name: one.plugin.location for one in plugins}
    refused = tuple(Refusal(one, serving.get(one.name, "")) for one in looked.refused)
    return PluginCatalogue(looked.layers, plugins, refused, looked.problems)


def _denied(plugin: Plugin, rules: Rules) -> bool:
    return plugin.layer.local and not rules.local.allowed


def _listed(
    plugins: Sequence[Plugin], rules: Rules, missing: Mapping[str, tuple[str, ...]], stale: Collection[str]
) -> Listed:
    first, *rest = plugins
    signed, lacks = first.seal.under(rules.keys), missing.get(first.location, ())
    told = [*first.diagnostics, *_same_layer(first, rest)]
    reason = ""
    if lacks:
        reason = "missing"
        told.append(warning("EVA-839", "; ".join(lacks), first.location))
    if signed is not Signed.YES and (rules.require_signed or signed is Signed.UNKNOWN_KEY):
        told.append(_unvouched(first, signed, rules))
        reason = "signature_invalid" if rules.require_signed else reason
    if _denied(first, rules):
        reason = "policy_denied"
        message = f"{first.location} is the user's own: not in use by {rules.local.place}"
        told.append(warning("EVA-842", message, first.location))
    return Listed(
        plugin=first,
        signed=signed,
        reason=reason,
        missing=lacks,
        shadows=tuple(rest),
        diagnostics=tuple(told),
        stale=first.location in stale,
    )


def _unvouched(plugin: Plugin, signed: Signed, rules: Rules) -> Diagnostic:
    if signed is Signed.UNKNOWN_KEY:
        message = f"{plugin.name} is signed with the key {plugin.seal.key}, which the policy does not list"
    else:
        message = f"{plugin.name} is not signed, and the policy wants plugins signed"
    return warning("EVA-838", message, plugin.location, Level.ERROR if rules.require_signed else Level.WARNING)


def _same_layer(first: Plugin, rest: Iterable[Plugin]) -> Iterable[Diagnostic]:
    for other in rest:
        if other.layer == first.layer:
            message = f"{first.location} and {other.location} have one name; the first is taken"
            yield warning("EVA-840", message, first.location)
