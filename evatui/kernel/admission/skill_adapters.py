"""When a skill may answer calls: with schemas for both ways, a policy that allows it, and a runtime that fits."""

from __future__ import annotations

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.render import render
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span

__all__ = ["WORKFLOW_SKILL", "barrier"]

WORKFLOW_SKILL = "workflow_skill"


def barrier(adapter: Adapter, policy: Policy, mode: str) -> Diagnostic | None:
    """Why an adapter of the transport ``skill`` answers nobody in a runtime of ``mode``; None where it may."""
    found = _by_policy(adapter, policy) or _by_gate(adapter, mode) or _by_schemas(adapter, policy)
    return render(found, {}) if found is not None else None


def _by_policy(adapter: Adapter, policy: Policy) -> Diagnostic | None:
    denying = next((one for one in policy.layers if WORKFLOW_SKILL not in one.settings["skills"]["allow_kinds"]), None)
    if denying is None:
        return None
    notes = (f"the kinds that are allowed: {denying.place('skills.allow_kinds')}",)
    message = f"{denying.title} lets no workflow skill answer, so {adapter.id} does not"
    return diagnose("EVA-817", message, Span(adapter.path), notes=notes)


def _by_gate(adapter: Adapter, mode: str) -> Diagnostic | None:
    modes = adapter.gate.allowed_modes
    if mode in modes:
        return None
    message = f"the runtime is in the mode {mode}, {adapter.id} answers in {', '.join(modes)}"
    return diagnose("EVA-818", message, Span(adapter.path))


def _by_schemas(adapter: Adapter, policy: Policy) -> Diagnostic | None:
    """The policy only decides whether that is a mistake: what has no schema is called by nobody."""
    without = [name for name in adapter.capabilities if name not in adapter.contracts]
    if adapter.capabilities and not without:
        return None
    lacks = f"no schemas for {', '.join(without)}" if without else "no capabilities"
    level = Level.ERROR if policy.settings["skills"]["require_schema"] else Level.WARNING
    return diagnose("EVA-819", f"{adapter.id} is only shown: it has {lacks}", Span(adapter.path), level=level)
