"""May a version take the place of what was granted before, or does it wait for a person?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.compat import Direction, incompatibilities
from evatui.kernel.admission.credentials import credential_changes
from evatui.kernel.admission.grant import Grant
from evatui.kernel.admission.permission_diff import FieldChange, limit_changes, permission_changes
from evatui.kernel.admission.report import MANIFEST_FAULTS, Pointer, Report
from evatui.kernel.admission.roots import entries_of, root_changes
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.change import ChangeClass, Trend
from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.model.manifest import Isolation
from evatui.kernel.model.permissions import NOTHING, Permissions
from evatui.kernel.model.text import clean_line

__all__ = ["POWERS", "Weighed", "power_of", "reaches", "weigh"]

POWERS = ("network.hosts", "shell.commands", "env")
"""Fields of which one entry is enough to connect, to start a process, or to have a secret injected."""
_NEW_POWERS = ("fs.write", *POWERS)
_MAX_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Weighed:
    """``change_class``, what differs field by field, and why it is no hotter: one diagnostic a cause, not rendered."""

    change_class: ChangeClass
    fields: tuple[FieldChange, ...] = ()
    causes: tuple[Diagnostic, ...] = ()


@dataclass(slots=True)
class _Scales:
    report: Report
    change_class: ChangeClass = ChangeClass.HOT
    causes: list[Diagnostic] = field(default_factory=list)

    def put(self, change_class: ChangeClass, code: str, message: str, span: Span, notes: tuple[str, ...] = ()) -> None:
        order = list(ChangeClass)
        self.change_class = max(self.change_class, change_class, key=order.index)
        self.causes.append(diagnose(code, message, span, notes=notes))


def weigh(
    candidate: Candidate,
    before: Grant | None,
    *,
    running: bool,
    providers: Mapping[str, str],
    document: Callable[[str], Mapping[str, Any] | None],
) -> Weighed:
    """Weighs ``candidate`` against the last grant of its id; None where there never was one.

    ``running`` is False for an id that was there when the runtime started. ``providers`` maps capability names to
    another id that provides them; ``document`` gives the schema with a digest, None where it is not kept any more.
    """
    scales = _scales(candidate)
    _names(candidate, before, providers, scales)
    if before is None:
        fields = (
            *permission_changes(NOTHING, candidate.permissions),
            *credential_changes({}, candidate.credentials),
        )
        if running:
            _appeared(candidate, fields, scales)
    else:
        after = Grant.of(candidate)
        fields = _reach(before, after, scales)
        _schemas(candidate, before, after, document, scales)
    return Weighed(scales.change_class, fields, tuple(scales.causes))


def reaches(candidate: Candidate, before: Grant) -> tuple[str, ...]:
    """What it could do that was not granted ``before``, in words; its schemas and names say nothing of that."""
    scales = _scales(candidate)
    _reach(before, Grant.of(candidate), scales)
    return tuple(cause.message for cause in scales.causes)


def power_of(permissions: Permissions) -> Permissions:
    """The part of it that starts processes, connects, or has secrets injected."""
    return Permissions(network=permissions.network, shell=permissions.shell, env=permissions.env)


def _scales(candidate: Candidate) -> _Scales:
    written = candidate.snapshot.document
    assert written is not None  # a candidate was read
    return _Scales(Report(written, MANIFEST_FAULTS))


def _reach(before: Grant, after: Grant, scales: _Scales) -> tuple[FieldChange, ...]:
    fields = (
        *permission_changes(before.permissions, after.permissions),
        *root_changes(before.permissions, before.roots, after.roots),
        *credential_changes(before.credentials, after.credentials),
        *limit_changes(before.limits, after.limits),
    )
    _permissions(before, after, fields, scales)
    _isolation(before, after, scales)
    return fields


def _appeared(candidate: Candidate, fields: tuple[FieldChange, ...], scales: _Scales) -> None:
    for change in fields:
        if change.path in _NEW_POWERS and change.after:
            message = f"{candidate.id} is new here and asks for {change.path}: {_entries(change.after)}"
            scales.put(ChangeClass.APPROVAL, "EVA-434", message, _span(scales.report, change))


def _permissions(before: Grant, after: Grant, fields: tuple[FieldChange, ...], scales: _Scales) -> None:
    for change in fields:
        if change.trend is not Trend.WIDENED or change.path.startswith("limits."):
            continue
        if change.path == "network.methods" and not before.permissions.network.hosts:
            continue  # follows from the hosts, and is decided with them
        message = f"{change.path} is wider than before, by {_entries(change.gained)}"
        notes = (f"granted before: {_entries(change.before) or 'nothing'}",)
        span = _span(scales.report, change)
        new_places = change.path == "fs.write" or _is_written(change, after.permissions)
        if new_places or (change.path in ("network.hosts", "shell.commands") and not change.before):
            scales.put(ChangeClass.RESTART, "EVA-431", message, span, notes)
        else:
            scales.put(ChangeClass.APPROVAL, "EVA-430", message, span, notes)


def _is_written(change: FieldChange, permissions: Permissions) -> bool:
    """Is it a root that may be written to?"""
    area, _, root = change.path.partition(".")
    return area == "roots" and bool(entries_of(permissions.fs.write, root))


def _isolation(before: Grant, after: Grant, scales: _Scales) -> None:
    if (before.isolation, after.isolation) == (Isolation.PROCESS, Isolation.IN_PROCESS):
        message = "it would run in the process of the runtime, and ran in one of its own before"
        scales.put(ChangeClass.RESTART, "EVA-431", message, scales.report.span(("isolation",)))
    if after.unboxed and not before.unboxed:
        message = "it would run without an OS sandbox, which its source was held to before"
        scales.put(ChangeClass.RESTART, "EVA-431", message, scales.report.span(("trust", "source")))


def _schemas(
    candidate: Candidate,
    before: Grant,
    after: Grant,
    document: Callable[[str], Mapping[str, Any] | None],
    scales: _Scales,
) -> None:
    sides = (
        ("input_schema", Direction.INPUT, before.input, after.input, candidate.input.document),
        ("output_schema", Direction.OUTPUT, before.output, after.output, candidate.output.document),
    )
    for key, direction, was, now, new in sides:
        if was == now:
            continue
        old = document(was)
        if old is None:
            found = ["what it was before is not kept, so nobody can tell"]
        else:
            found = [f"{each.pointer or '/'}: {each.message}" for each in incompatibilities(old, new, direction)]
        if found:
            whom = "what callers send now" if direction is Direction.INPUT else "what callers rely on now"
            message = f"the {direction.value} schema does not keep {whom}: {clean_line(found[0], 200)}"
            notes = tuple(clean_line(each, 200) for each in found[1:_MAX_SHOWN])
            scales.put(ChangeClass.APPROVAL, "EVA-432", message, scales.report.span((key,)), notes)


def _names(candidate: Candidate, before: Grant | None, providers: Mapping[str, str], scales: _Scales) -> None:
    mine = before.names if before else ()
    for name in candidate.manifest.provides:
        if name in providers and name not in mine:
            message = f"{candidate.id} would provide {name}, which {providers[name]} provides"
            span = scales.report.span(scales.report.item(("capabilities",), name))
            scales.put(ChangeClass.APPROVAL, "EVA-433", message, span)


def _span(report: Report, change: FieldChange) -> Span:
    if change.path.startswith("credentials."):  # the policy says more of them; the manifest only names them
        return report.span(("permissions", "env"), label="named here")
    if change.path.startswith("roots."):  # eva.yaml says where they lead
        return _root_span(report, change.path.removeprefix("roots."))
    at: Pointer = ("permissions", *change.path.split("."))
    entry = (change.gained or change.after)[0]
    return report.span(report.item(at, entry), label="new")


def _root_span(report: Report, root: str) -> Span:
    for at in (("permissions", "fs", "write"), ("permissions", "fs", "read")):
        entries = report.value(at)
        named = entries_of(tuple(map(str, entries)), root) if isinstance(entries, list) else ()
        if named:
            return report.span(report.item(at, named[0]), label="named here")
    return report.span(("permissions",))


def _entries(entries: tuple[Any, ...]) -> str:
    return ", ".join(_shown(entries))


def _shown(entries: tuple[Any, ...]) -> Iterator[str]:
    for entry in entries[:_MAX_SHOWN]:
        yield '"' + clean_line(" ".join(entry) if isinstance(entry, tuple) else entry, 80) + '"'
    if len(entries) > _MAX_SHOWN:
        yield f"{len(entries) - _MAX_SHOWN} more"
