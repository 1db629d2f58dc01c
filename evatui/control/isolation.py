"""Where the code of a capability runs and why, in the words of lists, cards and pages."""

from __future__ import annotations

from typing import Any

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import Isolation
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.conduct import Conduct

__all__ = ["in_force", "isolation", "isolation_marks", "why"]


def isolation_marks(capability: Capability) -> tuple[str, ...]:
    """``demoted``, ``demotion failed``, or ``process`` where it runs in one without having been moved there."""
    if capability.conduct.demoted:
        return ("demoted",)
    if capability.conduct.stranded:
        return ("demotion failed",)
    return ("process",) if in_force(capability) is Isolation.PROCESS else ()


def in_force(capability: Capability) -> Isolation | None:
    """Where new calls run, None where nothing serves."""
    return capability.active.program.isolation if capability.active else None


def isolation(capability: Capability) -> dict[str, Any]:
    """``{asked, in_force, why, strikes, warm, demoted_at, demotion_failed_at}``; ``warm`` counts states at rest."""
    candidate = capability.active.candidate if capability.active else capability.candidate
    where, conduct = in_force(capability), capability.conduct
    return {
        "asked": candidate.manifest.isolation.value if candidate else None,
        "in_force": where.value if where else None,
        "why": why(capability),
        "strikes": {
            "timeout": conduct.strikes[ErrorKind.TIMEOUT],
            "memory": conduct.strikes[ErrorKind.MEMORY_EXCEEDED],
            "stuck": conduct.stuck,
            "last": conduct.last or None,
        },
        "warm": {
            place.value: capability.active.program.warm(place) if capability.active else 0
            for place in (Isolation.IN_PROCESS, Isolation.PROCESS)
        },
        "demoted_at": conduct.demoted or None,
        "demotion_failed_at": conduct.stranded or None,
    }


def why(capability: Capability) -> str:
    """One clause, empty where there is nothing to say it of."""
    candidate = capability.active.candidate if capability.active else capability.candidate
    if capability.conduct.demoted:
        return f"moved there after {_counted(capability.conduct)}; enable takes it back"
    said = _by_right(candidate, in_force(capability)) if candidate else ""
    if capability.conduct.stranded:
        return f"{said}; to be moved after {_counted(capability.conduct)}, but no worker process is to be had"
    return said


def _by_right(candidate: Candidate, where: Isolation | None) -> str:
    manifest = candidate.manifest
    if manifest.isolation is where is not None:
        return "its manifest says so"
    trusts = "trusts" if (where or candidate.isolation) is Isolation.IN_PROCESS else "does not trust"
    return f"the policy {trusts} its source, {manifest.trust}"


def _counted(conduct: Conduct) -> str:
    shown = (
        (conduct.strikes[ErrorKind.TIMEOUT], "timeout"),
        (conduct.strikes[ErrorKind.MEMORY_EXCEEDED], "memory verdict"),
        (conduct.stuck, "stuck thread"),
    )
    return ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in shown if number)
