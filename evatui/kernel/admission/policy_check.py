"""What a manifest asks for against what the policy gives: refused at the very line, never trimmed."""

from __future__ import annotations

import json
import re
from typing import Any

from evatui.kernel.admission.grants import Excess, excess
from evatui.kernel.admission.layer import Granted, Layer, LayerName
from evatui.kernel.admission.placement import check_isolation
from evatui.kernel.admission.pooled_policy import Policy
from evatui.kernel.admission.report import Pointer, Report
from evatui.kernel.model.diagnostic import Edit
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.permissions import ALL
from evatui.kernel.model.sandbox import SandboxFacts
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.topic import is_kernel_topic
from evatui.kernel.workspace.home import OPERATOR_FILE
from evatui.kernel.workspace.scalars import resolve

__all__ = ["check_policy"]

_BARE = re.compile(r"-{0,2}[A-Za-z][A-Za-z0-9_./-]*", re.ASCII)
_MAX_GRANT = 20_000
"""Characters: what is cut off would be no grant any more."""


def check_policy(manifest: Manifest, policy: Policy, sandbox: SandboxFacts, report: Report) -> None:
    """Reports everything that a layer of the policy refuses, on a machine with ``sandbox``."""
    for layer in policy.layers:
        _deny(manifest, layer, report)
        _ceilings(manifest, layer, report)
    check_isolation(manifest, policy, sandbox, report)
    if policy.deny.manifest(manifest):
        return
    _kernel_topics(manifest, report)
    for layer in policy.layers:
        granted = layer.granted(manifest)
        _names(manifest, layer, granted, report)
        _permissions(manifest, layer, granted, report)


def _deny(manifest: Manifest, layer: Layer, report: Report) -> None:
    if layer.deny.id(manifest.id):
        report.add("EVA-413", f"{layer.title} denies the id {manifest.id}", report.span(("id",)))
    if layer.deny.kind(manifest.kind):
        report.add("EVA-413", f"{layer.title} denies the kind {manifest.kind}", report.span(("kind",)))
    for name in filter(layer.deny.name, manifest.capabilities):
        span = report.span(report.item(("capabilities",), name))
        report.add("EVA-413", f"{layer.title} denies the name {name}", span)
    for name in filter(layer.deny.name, manifest.permissions.adapters.capabilities):
        span = report.span(report.item(("permissions", "adapters", "capabilities"), name))
        report.add("EVA-413", f"{layer.title} denies calls to {name}", span)


def _ceilings(manifest: Manifest, layer: Layer, report: Report) -> None:
    for name, ceiling in layer.settings["ceilings"].items():
        at: Pointer = (name,) if name == "priority" else ("limits", name)
        value = manifest.priority if name == "priority" else getattr(manifest.limits, name)
        if value > ceiling:
            by_default = "" if report.node(at) is not None else " by default"
            path = ".".join(map(str, at))
            message = f"{path} is {value}{by_default}; {layer.owner} ceiling is {ceiling}"
            notes = (f"the ceiling: {layer.place(f'ceilings.{name}')}",)
            written = (Edit(report.span(at), str(ceiling)),) if report.node(at) is not None else ()
            report.add("EVA-411", message, report.span(at, label=f"at most {ceiling}"), notes=notes, edits=written)


def _names(manifest: Manifest, layer: Layer, granted: Granted, report: Report) -> None:
    for name in manifest.capabilities:
        if not granted.name(name):
            message = f"{layer.title} does not let {manifest.id} provide {name}"
            notes = (f"names it may provide: {', '.join(granted.names) or 'none'}",)
            report.add("EVA-412", message, report.span(report.item(("capabilities",), name)), notes=notes)


def _kernel_topics(manifest: Manifest, report: Report) -> None:
    for topic in manifest.permissions.events.emit:
        if _is_reserved(topic):
            span = report.span(report.item(("permissions", "events", "emit"), topic))
            report.add("EVA-410", f"only the kernel emits {topic}", span, fix="Use a topic of your own.")


def _is_reserved(topic: str) -> bool:
    return topic != ALL and is_kernel_topic(topic)


def _permissions(manifest: Manifest, layer: Layer, granted: Granted, report: Report) -> None:
    for more in excess(manifest.permissions, granted.permissions):
        if more.area.path == ("events", "emit") and _is_reserved(more.entry):
            continue  # told already, and no grant would help
        if more.area.path != ("network", "methods") or granted.permissions.network.hosts:
            _refuse(manifest, layer, granted, more, report)


def _refuse(manifest: Manifest, layer: Layer, granted: Granted, more: Excess, report: Report) -> None:
    path = ".".join(("permissions", *more.area.path))
    given = [_text(entry) for entry in more.area.entries(granted.permissions)]
    message = f"{path} asks for {_text(more.entry)}, {layer.title} grants {', '.join(given[:8]) or 'nothing'} here"
    span = report.span(report.item(("permissions", *more.area.path), more.entry), label="not granted")
    notes = (_origin(manifest, layer, granted),)
    report.add("EVA-410", message, span, notes=notes, fix=_fix(manifest, layer, more))


def _origin(manifest: Manifest, layer: Layer, granted: Granted) -> str:
    if not layer.valid:
        return f"{layer.title} has no valid file, so nothing is granted"
    if not granted.rules:
        return f"no grant of {layer.title} matches {manifest.id} ({manifest.kind}, {manifest.trust})"
    return f"the grants that match {manifest.id}: {', '.join(rule.place for rule in granted.rules[:8])}"


def _fix(manifest: Manifest, layer: Layer, more: Excess) -> str:
    entry = (
        f"[{', '.join(map(_word, more.entry))}]"
        if isinstance(more.entry, tuple)
        else json.dumps(more.entry, ensure_ascii=False)
    )
    *outer, name = more.area.path
    block = f"{name}: [{entry}]"
    for key in outer:
        block = f"{key}: {{{block}}}"
    file = OPERATOR_FILE if layer.name is LayerName.OPERATOR else "a policy file"
    grant = f"- {{match: {{ids: [{_word(manifest.id)}]}}, {block}}}"
    return f"Remove the entry, or add to {file}: {clean_line(grant, _MAX_GRANT)}"


def _word(text: str) -> str:
    """As it can stand in a list: in quotes where YAML would read something else."""
    return text if _BARE.fullmatch(text) and resolve(text) == text else json.dumps(text, ensure_ascii=False)


def _text(entry: Any) -> str:
    return '"' + clean_line(" ".join(entry) if isinstance(entry, tuple) else entry, 80) + '"'
