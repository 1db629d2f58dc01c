"""Plugins as rows for consoles, and in the shapes that scripts rely on."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from evatui.adapters.plugin_tasks import PluginTask
from evatui.control.extensions import (
    Extensions,
    LayerRow,
    PluginHookRow,
    PluginRow,
    PluginTaskRow,
    PluginToolRow,
    RefusedRow,
)
from evatui.extensions.hooks.armed import armed_by
from evatui.extensions.plugins.catalogue import Listed, PluginCatalogue, Refusal
from evatui.extensions.plugins.offering import capability_of, provider_of
from evatui.extensions.shared.local import user_local
from evatui.kernel.model.clock import rfc3339
from evatui.kernel.model.text import clean_line
from evatui.runtime import Runtime

__all__ = ["PluginRows", "listed_plugins"]


class PluginRows:
    """Of one runtime. Rows stay the same objects as long as nothing of them changes."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._key: object = None
        self._made = Extensions()

    def added_to(self, found: Extensions) -> Extensions:
        """``found``, with what there is of plugins."""
        known, tasks = self._runtime.plugging.catalogue.latest, self._runtime.plugging.tasks.rows
        standings = tuple(_standing(self._runtime, one) for one in known.plugins)
        hooks = tuple((one.armed.key, one.state, one.failures) for one in self._runtime.hooking.states)
        key = (found, known, tasks, standings, hooks)
        if not _same(key, self._key):
            self._key = key
            self._made = replace(
                found,
                plugins=tuple(
                    _row(self._runtime, one, *said) for one, said in zip(known.plugins, standings, strict=True)
                ),
                refused=(*found.refused, *(_refused(one) for one in known.refused)),
                plugin_layers=_layers(self._runtime, known),
                tasks=tuple(_task(one) for one in tasks),
                problems=(*found.problems, *known.problems),
            )
        return self._made


def _same(one: tuple[Any, ...], other: object) -> bool:
    """Catalogues are compared as objects: a new one is made where anything in it is new."""
    return isinstance(other, tuple) and one[0] is other[0] and one[1] is other[1] and one[2:] == other[2:]


def listed_plugins(runtime: Runtime) -> dict[str, Any]:
    """``{plugins, rejected, layers, tasks, problems}``."""
    known = runtime.plugging.catalogue.latest
    return {
        "plugins": [_plugin_json(_row(runtime, one, *_standing(runtime, one))) for one in known.plugins],
        "rejected": [_json(_refused(one)) for one in known.refused],
        "layers": [_layer_json(one) for one in _layers(runtime, known)],
        "tasks": [one.to_json() for one in runtime.plugging.tasks.rows],
        "problems": [problem.to_json() for problem in known.problems],
    }


def _json(row: PluginRow | RefusedRow) -> dict[str, Any]:
    return {**asdict(row), "diagnostics": [found.to_json() for found in row.diagnostics]}


def _plugin_json(row: PluginRow) -> dict[str, Any]:
    """``signed``: by a key that the policy lists; ``signature`` says what there is."""
    return {**_json(row), "signed": row.signed == "signed", "signature": row.signed}


def _layer_json(row: LayerRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "kind": row.kind,
        "folder": row.folder,
        "allowed": row.allowed,
        "plugins": row.skills,
    }


def _standing(runtime: Runtime, one: Listed) -> tuple[str, str]:
    provider = provider_of(one.name)
    declared = next((adapter for adapter in runtime.providers.declared if adapter.id == provider), None)
    return runtime.providers.standing(declared) if declared is not None else ("", "")


def _row(runtime: Runtime, one: Listed, state: str, detail: str) -> PluginRow:
    plugin, manifest = one.plugin, one.plugin.manifest
    return PluginRow(
        name=plugin.name,
        description=clean_line(manifest.description),
        version=clean_line(manifest.version, 64),
        kind=manifest.type,
        signed=one.signed.value,
        key_id=plugin.seal.key,
        state=state,
        detail=clean_line(detail),
        available=one.available,
        reason=one.reason,
        missing=tuple(clean_line(lack, 200) for lack in one.missing),
        layer=clean_line(plugin.layer.name, 120),
        location=clean_line(plugin.location),
        digest=plugin.digest,
        tools=tuple(
            PluginToolRow(
                name=tool.name,
                capability=capability_of(plugin.name, tool.name),
                description=clean_line(tool.description),
                risk=tool.risk,
                by_hand=tool.by_hand,
                background=tool.spawn_only,
            )
            for tool in manifest.tools
        ),
        hooks=_hooks(runtime, one),
        servers=len(manifest.mcp_servers),
        network=manifest.requires_network,
        stale=one.stale,
        shadows=tuple(clean_line(other.location) for other in one.shadows),
        diagnostics=one.diagnostics,
    )


def _hooks(runtime: Runtime, one: Listed) -> tuple[PluginHookRow, ...]:
    known = {found.armed.key: found for found in runtime.hooking.states}
    found = [(armed, known.get(armed.key)) for armed in armed_by(one.plugin)]
    return tuple(
        PluginHookRow(
            event=armed.hook.event,
            command=armed.shown,
            tools=tuple(clean_line(pattern, 200) for pattern in armed.hook.tools),
            state=said.state if said is not None else "off",
            failures=said.failures if said is not None else 0,
        )
        for armed, said in found
    )


def _refused(one: Refusal) -> RefusedRow:
    return RefusedRow(
        kind="plugin",
        path=clean_line(one.found.location),
        layer=clean_line(one.found.layer.name, 120),
        instead=clean_line(one.instead),
        diagnostics=one.found.diagnostics,
    )


def _layers(runtime: Runtime, known: PluginCatalogue) -> tuple[LayerRow, ...]:
    allowed = user_local(runtime.policy).allowed
    found = [plugin.layer for one in known.plugins for plugin in (one.plugin, *one.shadows)]
    return tuple(
        LayerRow(
            name=clean_line(one.layer.name, 120),
            kind=one.layer.kind.value,
            folder=clean_line(one.layer.shown),
            allowed=allowed or not one.layer.local,
            skills=found.count(one.layer),
        )
        for one in known.layers
    )


def _task(one: PluginTask) -> PluginTaskRow:
    progress = one.progress
    return PluginTaskRow(
        handle=one.handle,
        plugin=one.plugin,
        version=clean_line(one.version, 64),
        tool=one.tool,
        state=one.state,
        fraction=progress.fraction if progress is not None else None,
        message=progress.message if progress is not None else "",
        began=rfc3339(one.began),
        ended=rfc3339(one.ended) if one.ended is not None else "",
        error=clean_line(one.error.message) if one.error is not None else "",
    )
