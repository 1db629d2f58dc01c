"""Adapters that wait for a person, and what that person is told."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.render import render
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.change import ChangeClass
from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.trust import Part, Trust

__all__ = ["HeldAdapter", "held_back"]

_MAX_CHANGED = 12


@dataclass(frozen=True, slots=True)
class HeldAdapter:
    """A sound manifest that waits: for trust, or, where ``waits_for`` is ``restart``, for the next start as well."""

    adapter: Adapter
    waits_for: str
    untrusted: bool
    diagnostics: tuple[Diagnostic, ...]


def held_back(adapter: Adapter, untrusted: Part | None, change: ChangeClass, trust: Trust) -> HeldAdapter:
    """``untrusted`` is what nobody trusts yet of it, None where that is nothing."""
    changed = trust.differences(untrusted) if untrusted is not None else []
    notes = tuple(f"changed: {clean_line(line, 300)}" for line in changed[:_MAX_CHANGED])
    span = Span(adapter.path)
    if change is ChangeClass.RESTART:
        message = f"the adapter {adapter.id} leads elsewhere than what was started; it waits for the next start"
        fix = {"fix": "Trust it (eva trust), then restart the runtime: eva runtime restart"} if untrusted else {}
        found = diagnose("EVA-708", message, span, notes=notes, **fix)
    else:
        since = ", and it changed since it was trusted" if changed else ""
        message = f"the workspace is not trusted with the adapter {adapter.id}{since}"
        found = diagnose("EVA-707", message, span, notes=notes)
    waits = "restart" if change is ChangeClass.RESTART else "trust"
    return HeldAdapter(adapter, waits, untrusted is not None, (render(found, {}),))
