"""What is refused, as rows: of capabilities, of files that speak for none, and beyond single manifests."""

from __future__ import annotations

from evatui.control.snapshot import RejectionRow
from evatui.kernel.admission.verdict import Rejection
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.generation import Generation
from evatui.runtime import Runtime

__all__ = ["rejection_rows"]

_MAX_DIFFERENCE = 40


def rejection_rows(runtime: Runtime) -> tuple[RejectionRow, ...]:
    """Every refusal in force: of capabilities by id, then of files that speak for none by path."""
    registry = runtime.registry
    named = [
        _rejection(runtime, key, capability.rejection, capability.rejected_at, capability.active)
        for key, capability in sorted(registry.capabilities.items())
        if capability.rejection is not None and not capability.gone
    ]
    strays = [
        _rejection(runtime, path, rejection, at, None) for path, (rejection, at) in sorted(registry.strays.items())
    ]
    return (*named, *strays, *_workspace_problems(runtime))


def _workspace_problems(runtime: Runtime) -> list[RejectionRow]:
    """What is wrong beyond single manifests, by file: a broken policy, a folder that cannot be read."""
    by_file: dict[str, list[Diagnostic]] = {}
    for problem in runtime.problems:
        by_file.setdefault(problem.primary.file if problem.primary else "", []).append(problem)
    at = runtime.reloader.looked_at
    return [
        RejectionRow(
            key=clean_line(file),
            id=None,
            path=clean_line(file),
            at=at,
            digest="",
            serving=None,
            diagnostics=tuple(found),
        )
        for file, found in sorted(by_file.items())
    ]


def _rejection(runtime: Runtime, key: str, rejection: Rejection, at: str, active: Generation | None) -> RejectionRow:
    difference = runtime.refusals.difference(rejection)
    return RejectionRow(
        key=clean_line(key),
        id=rejection.id,
        path=clean_line(rejection.path),
        at=at,
        digest=rejection.digest,
        serving=active.name.short if active else None,
        diagnostics=rejection.diagnostics,
        against=difference.against,
        difference=tuple(difference.text.split("\n")[:_MAX_DIFFERENCE]) if difference.text else (),
    )
