"""From a snapshot to a verdict, with everything wrong at once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evatui.kernel.admission.closure import check_integrity, check_schema, check_scripts, shelf_of
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.credentials import used
from evatui.kernel.admission.exposing import check_exposure
from evatui.kernel.admission.fold import folded
from evatui.kernel.admission.manifest import Reading, guess_id, read_manifest
from evatui.kernel.admission.placement import placed, unboxed
from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.policy_check import check_policy
from evatui.kernel.admission.render import Texts, noted, render
from evatui.kernel.admission.report import MANIFEST_FAULTS, Fault, Report, nearest
from evatui.kernel.admission.roots import roots_used
from evatui.kernel.admission.verdict import Candidate, Rejection, Verdict, places_in
from evatui.kernel.model.diagnostic import Diagnostic, Level, Reason, Span
from evatui.kernel.model.ids import fold
from evatui.kernel.model.permissions import ALL
from evatui.kernel.model.sandbox import NO_SANDBOX, SandboxFacts
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.paths import normal
from evatui.kernel.workspace.snapshot import Snapshot

__all__ = ["admit", "duplicates", "examples_rejection", "function_line", "function_near", "lua_rejection"]

_LUA_CODES = {
    Reason.FILE_MISSING: "EVA-501",
    Reason.LUA_LOAD_FAILED: "EVA-502",
    Reason.HEALTH_FAILED: "EVA-503",
    Reason.ISOLATION_UNAVAILABLE: "EVA-416",
    Reason.MIGRATION_FAILED: "EVA-603",
}
_MAX_LUA_MESSAGE = 2_000


def admit(
    snapshot: Snapshot,
    *,
    layout: Layout,
    policy: Policy,
    sandbox: SandboxFacts = NO_SANDBOX,
    policy_diagnostics: Sequence[Diagnostic] = (),
) -> Verdict:
    """The verdict on a snapshot under a policy: no IO, but compiling schemas takes CPU, so call it in a thread.

    ``sandbox`` is what there is for capabilities that must not run in the process of the runtime.
    ``policy_diagnostics`` (from `load_policy`) are given to a capability that the broken policy costs a grant.
    """
    if snapshot.document is None:
        problems = _by_stage(snapshot.problems, snapshot)
        return _rejected(snapshot, guess_id(snapshot.manifest.data), problems)
    reading = read_manifest(snapshot.document)
    report = reading.report
    _check_gate(reading, layout)
    _check_roots(reading, layout)
    check_integrity(reading.raw, snapshot, report)
    shelf = shelf_of(reading.raw, snapshot)
    takes, takes_problems = check_schema(reading.raw, "input_schema", snapshot, shelf, report)
    gives, gives_problems = check_schema(reading.raw, "output_schema", snapshot, shelf, report)
    check_scripts(reading.raw, snapshot, report)
    check_exposure(reading.manifest, report)
    denials = _denials(reading, policy, sandbox, policy_diagnostics)
    found = _by_stage([*report.found, *_unlike(takes_problems, gives_problems), *denials], snapshot)
    manifest = reading.manifest
    failed = any(diagnostic.level is Level.ERROR for diagnostic in found)
    if failed or manifest is None or takes is None or gives is None:
        missing = tuple(sorted(snapshot.missing))
        return _rejected(snapshot, reading.id, found, manifest, missing, places_in(report.document))
    place = placed(manifest, policy)
    permissions = policy.effective(manifest)
    return Candidate(
        manifest,
        snapshot,
        permissions,
        takes,
        gives,
        place,
        found,
        credentials=used(permissions, policy.credentials),
        roots=roots_used(permissions, layout.roots),
        unboxed=unboxed(manifest, policy, sandbox),
    )


def duplicates(verdicts: Sequence[Verdict], owners: Mapping[str, str]) -> list[Verdict]:
    """The verdicts, with all but the owner's refused where several manifests have one id.

    ``owners`` maps a folded id to the manifest path of the version that is active; where nobody is, none is loaded.
    """
    by_id: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.id is not None and not (isinstance(verdict, Rejection) and verdict.unread):
            by_id[fold(verdict.id)].append(verdict)
    judged: dict[str, Verdict] = {}
    for key, group in by_id.items():
        for verdict in group if len(group) > 1 else ():
            others = [other for other in group if other is not verdict]
            if others and owners.get(key) != verdict.path:
                judged[verdict.path] = _duplicate(verdict, others, owners.get(key))
    return [judged.get(verdict.path, verdict) for verdict in verdicts]


def lua_rejection(
    candidate: Candidate,
    *,
    reason: Reason,
    message: str,
    file: str | None,
    line: int | None,
    at: str = "",
    notes: tuple[str, ...] = (),
) -> Rejection:
    """What loading a candidate ended in, as a refusal like any other.

    ``file`` is the script's or a module's path as the manifest has it. Without a file and a line the place is ``at``
    in the manifest, or ``lua.entry`` (``lua.health_check`` of a health check, ``state.migrations`` of a migration).
    """
    span = _lua_span(candidate, file, line, reason, at)
    text = clean_line(message, _MAX_LUA_MESSAGE)
    found = render(diagnose(_LUA_CODES[reason], text, span, notes=notes), _texts(candidate.snapshot))
    return _rejected(candidate.snapshot, candidate.id, (found,), candidate.manifest)


def examples_rejection(candidate: Candidate, problems: tuple[Diagnostic, ...]) -> Rejection:
    """A version that must not go live since its examples fail; ``problems`` are rendered."""
    return _rejected(candidate.snapshot, candidate.id, problems, candidate.manifest)


def _rejected(snapshot: Snapshot, id: str | None, found: tuple[Diagnostic, ...], *known: Any) -> Rejection:
    return Rejection(id, snapshot.path, snapshot.digest, found, snapshot, *known)


def function_line(script: bytes, name: str) -> int | None:
    """Where a script seems to define the function ``name``; None where that cannot be told from its text."""
    word = re.escape(name.encode())
    found = re.search(rb"\bfunction[ \t]+(?:\w+[.:])?%s[ \t]*\(|\b%s[ \t]*=[ \t]*function\b" % (word, word), script)
    return script.count(b"\n", 0, found.start()) + 1 if found is not None else None


def function_near(script: bytes, name: str) -> str | None:
    """A function that a script seems to define and that ``name`` was probably meant to be."""
    found = re.findall(rb"\bfunction[ \t]+(?:\w+[.:])?(\w+)[ \t]*\(|\b(\w+)[ \t]*=[ \t]*function\b", script)
    return nearest(name, sorted({(one or other).decode("utf-8", "replace") for one, other in found} - {name}))


def _check_gate(reading: Reading, layout: Layout) -> None:
    gate = reading.raw.get("runtime_gate")
    if gate is None:
        return
    written = reading.report.value(("runtime_gate", "allowed_modes"))
    if written in (None, gate["allowed_modes"]) and layout.runtime.mode not in gate["allowed_modes"]:
        modes = ", ".join(gate["allowed_modes"])
        message = f"the runtime is in the mode {layout.runtime.mode}, the skill runs in {modes}"
        reading.report.add("EVA-213", message, reading.report.span(("runtime_gate",), key=True))


def _check_roots(reading: Reading, layout: Layout) -> None:
    """A path that begins with no root of the workspace would never lead anywhere."""
    for way, entries in reading.raw.get("permissions", {}).get("fs", {}).items():
        for entry in entries:
            root = entry.partition("/")[0]
            if root not in (ALL, *layout.roots):
                near = nearest(root, layout.roots)
                message = f'permissions.fs.{way}: the workspace has no root "{clean_line(root, 80)}"'
                label = f"did you mean {near}?" if near else f"roots: {', '.join(layout.roots)}"
                at = reading.report.item(("permissions", "fs", way), entry)
                reading.report.fault(Fault.FORM, message, at, label=label)


def _denials(
    reading: Reading, policy: Policy, sandbox: SandboxFacts, policy_diagnostics: Sequence[Diagnostic]
) -> list[Diagnostic]:
    if reading.manifest is None:
        return []
    report = Report(reading.report.document, MANIFEST_FAULTS)
    check_policy(reading.manifest, policy, sandbox, report)
    if not report.found:
        return []
    told = {_place(found) for found in reading.report.found}
    refused = [found for found in report.found if _place(found) not in told]  # the others follow from what was told
    if policy_diagnostics and refused and not any(layer.valid for layer in policy.layers):
        count = len(refused)
        missed = f"without a valid policy nothing is granted: {count} request{'s' * (count > 1)} refused"
        return [noted(policy_diagnostics[0], missed), *policy_diagnostics[1:]]
    return [*policy_diagnostics, *refused] if refused else []


def _place(found: Diagnostic) -> tuple[int, int] | None:
    return (found.primary.line, found.primary.column) if found.primary else None


def _unlike(mine: list[Diagnostic], theirs: list[Diagnostic]) -> list[Diagnostic]:
    """Both lists; one file that serves as both schemas is not told of twice."""
    return mine + [found for found in theirs if found not in mine]


def _by_stage(found: Sequence[Diagnostic], snapshot: Snapshot) -> tuple[Diagnostic, ...]:
    """Errors before warnings, by stage (reading, manifest, schemas, policy, Lua), the first cause marked; rendered."""
    if not found:
        return ()
    ordered = sorted(folded(found), key=lambda diagnostic: (diagnostic.level is Level.WARNING, diagnostic.code[:5]))
    texts = _texts(snapshot)
    told = [diagnostic if diagnostic.rendered else render(diagnostic, texts) for diagnostic in ordered]
    errors = sum(diagnostic.level is Level.ERROR for diagnostic in told)
    if errors > 1:
        told[0] = noted(told[0], f"the first of {errors} problems: the others may follow from it")
    return tuple(told)


def _texts(snapshot: Snapshot) -> Texts:
    files = {path: file.data for path, file in snapshot.files.items()}
    by_name = {normal(path): data for path, data in files.items()}
    return {**by_name, snapshot.path: snapshot.manifest.data}


def _lua_span(candidate: Candidate, file: str | None, line: int | None, reason: Reason, at: str) -> Span:
    source = candidate.snapshot.files.get(file) if file is not None else None
    if file is not None and source is not None and line is not None:
        text = source.data.split(b"\n")[line - 1 : line]
        indent = len(text[0]) - len(text[0].lstrip(b" \t")) if text else 0
        width = len(text[0].strip().decode("utf-8", "replace")) if text else 1
        return Span(normal(file), line, indent + 1, line, indent + 1 + width)
    if file is not None and source is not None:
        return Span(normal(file))
    names = ["lua.entry", "lua.script"]
    if reason is Reason.HEALTH_FAILED:
        names.insert(0, "lua.health_check")
    if reason is Reason.ISOLATION_UNAVAILABLE:
        names.insert(0, "isolation")
    if reason is Reason.MIGRATION_FAILED:
        names[:0] = ["state.migrations", "state.schema_version"]
    names.insert(0, at)
    return next((candidate.places[name] for name in names if name in candidate.places), Span(candidate.path))


def _duplicate(verdict: Verdict, others: Sequence[Verdict], owner: str | None) -> Rejection:
    names = ", ".join(clean_line(other.path, 200) for other in others)
    keeps = f"the one in {clean_line(owner, 200)} is active and stays" if owner else "none of them is loaded"
    message = f"the id {verdict.id} is also used in {names}; {keeps}"
    spans = (_id_span(verdict, primary=True), *(_id_span(other, primary=False) for other in others[:5]))
    texts = {each.path: each.snapshot.manifest.data for each in (verdict, *others) if isinstance(each, Candidate)}
    found = render(diagnose("EVA-215", message, *spans), texts)
    earlier = verdict.diagnostics if isinstance(verdict, Rejection) else ()
    return _rejected(verdict.snapshot, verdict.id, (found, *earlier), verdict.manifest)


def _id_span(verdict: Verdict, *, primary: bool) -> Span:
    span = verdict.places.get("id", Span(verdict.path))
    return replace(span, primary=primary, label="" if primary else "also here")
