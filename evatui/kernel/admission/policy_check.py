"""What a manifest asks for against what the policy gives: refused at the very line, never trimmed."""

from __future__ import annotations

from typing import Any

from evatui.kernel.admission.grants import Excess, excess
from evatui.kernel.admission.placement import check_isolation
from evatui.kernel.admission.pooled_policy import Granted, Policy
from evatui.kernel.admission.report import Pointer, Report
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.permissions import ALL
from evatui.kernel.model.sandbox import SandboxFacts
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.topic import is_kernel_topic

__all__ = ["check_policy"]


def check_policy(manifest: Manifest, policy: Policy, sandbox: SandboxFacts, report: Report) -> Granted:
    """Reports everything that the policy refuses, on a machine with ``sandbox``; returns what it grants."""
    granted = policy.granted(manifest)
    _deny(manifest, policy, report)
    _ceilings(manifest, policy, report)
    check_isolation(manifest, policy, sandbox, report)
    if not policy.deny.manifest(manifest):
        _names(manifest, granted, report)
        _permissions(manifest, policy, granted, report)
    return granted


def _deny(manifest: Manifest, policy: Policy, report: Report) -> None:
    if policy.denies(manifest.id):
        report.add("EVA-413", f"the policy denies the id {manifest.id}", report.span(("id",)))
    if policy.deny.kinds and any(kind in (ALL, manifest.kind.value) for kind in policy.deny.kinds):
        report.add("EVA-413", f"the policy denies the kind {manifest.kind}", report.span(("kind",)))
    for name in filter(policy.deny.name, manifest.capabilities):
        span = report.span(report.item(("capabilities",), name))
        report.add("EVA-413", f"the policy denies the name {name}", span)
    for name in filter(policy.deny.name, manifest.permissions.adapters.capabilities):
        span = report.span(report.item(("permissions", "adapters", "capabilities"), name))
        report.add("EVA-413", f"the policy denies calls to {name}", span)


def _ceilings(manifest: Manifest, policy: Policy, report: Report) -> None:
    for name, ceiling in policy.ceilings.items():
        at: Pointer = (name,) if name == "priority" else ("limits", name)
        value = manifest.priority if name == "priority" else getattr(manifest.limits, name)
        if value > ceiling:
            by_default = "" if report.node(at) is not None else " by default"
            message = f"{'.'.join(map(str, at))} is {value}{by_default}; the policy's ceiling is {ceiling}"
            report.add("EVA-411", message, report.span(at, label=f"at most {ceiling}"))


def _names(manifest: Manifest, granted: Granted, report: Report) -> None:
    for name in manifest.capabilities:
        if not granted.name(name):
            message = f"the policy does not let {manifest.id} provide {name}"
            notes = (f"names it may provide: {', '.join(granted.names) or 'none'}",)
            report.add("EVA-412", message, report.span(report.item(("capabilities",), name)), notes=notes)


def _permissions(manifest: Manifest, policy: Policy, granted: Granted, report: Report) -> None:
    for topic in manifest.permissions.events.emit:
        if topic != ALL and is_kernel_topic(topic):
            span = report.span(report.item(("permissions", "events", "emit"), topic))
            report.add("EVA-410", f"only the kernel emits {topic}", span, fix="Use a topic of your own.")
    for more in excess(manifest.permissions, granted.permissions):
        if more.area.path != ("network", "methods") or granted.permissions.network.hosts:
            _refuse(manifest, policy, granted, more, report)


def _refuse(manifest: Manifest, policy: Policy, granted: Granted, more: Excess, report: Report) -> None:
    path = ".".join(("permissions", *more.area.path))
    given = [_text(entry) for entry in more.area.entries(granted.permissions)]
    message = f"{path} asks for {_text(more.entry)}, the policy grants {', '.join(given[:8]) or 'nothing'} here"
    span = report.span(report.item(("permissions", *more.area.path), more.entry), label="not granted")
    report.add("EVA-410", message, span, notes=(_origin(manifest, policy, granted),), fix=_fix(manifest, more))


def _origin(manifest: Manifest, policy: Policy, granted: Granted) -> str:
    if not policy.valid:
        return "no valid policy was read, so nothing is granted"
    if not granted.rules:
        return f"no grant of the policy matches {manifest.id} ({manifest.kind}, {manifest.trust})"
    return f"the grants that match {manifest.id}: {', '.join(rule.place for rule in granted.rules[:8])}"


def _fix(manifest: Manifest, more: Excess) -> str:
    entry = f"[{', '.join(more.entry)}]" if isinstance(more.entry, tuple) else more.entry
    block = f'["{entry}"]' if isinstance(more.entry, str) else f"[{entry}]"
    for key in reversed(more.area.path):
        block = f"{key}: {block}"
    block = block.replace(": ", ": {", 1) + "}" if len(more.area.path) == 2 else block
    return f"Remove the entry, or add to a policy file: - {{match: {{ids: [{manifest.id}]}}, {clean_line(block)}}}"


def _text(entry: Any) -> str:
    return '"' + clean_line(" ".join(entry) if isinstance(entry, tuple) else entry, 80) + '"'
