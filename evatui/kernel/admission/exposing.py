"""What an MCP handler must be like for clients to see it, and whose a name is that two of them want."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.render import render_all
from evatui.kernel.admission.report import Report
from evatui.kernel.admission.verdict import Candidate, Rejection, Verdict
from evatui.kernel.model.diagnostic import Span
from evatui.kernel.model.exposed import EXPOSED_NAME, handler_name, likeness
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.text import clean_line

__all__ = ["check_exposure", "one_of_a_name"]


def check_exposure(manifest: Manifest | None, report: Report) -> None:
    """Adds to ``report`` why clients could not call this handler, if it is one."""
    name = handler_name(manifest) if manifest is not None else None
    if name is not None and not EXPOSED_NAME.fullmatch(name):
        own = ("mcp", "exposed_name")
        at = own if report.value(own) is not None else ("mcp", "tool_name")
        report.add("EVA-752", f'clients would see the tool as "{clean_line(name, 130)}"', report.span(at))


def one_of_a_name(verdicts: Sequence[Verdict], owners: Mapping[str, str]) -> list[Verdict]:
    """The verdicts, with all but the owner's refused where several handlers have one exposed name.

    ``owners`` maps the `likeness` of a name to the manifest path of the handler that serves under it; where nobody
    does, none is loaded.
    """
    by_name: dict[str, list[Candidate]] = defaultdict(list)
    for verdict in verdicts:
        name = handler_name(verdict.manifest) if isinstance(verdict, Candidate) else None
        if isinstance(verdict, Candidate) and name is not None:
            by_name[likeness(name)].append(verdict)
    judged: dict[str, Verdict] = {}
    for key, group in by_name.items():
        for candidate in group:
            others = [other for other in group if other is not candidate]
            if others and owners.get(key) != candidate.path:
                judged[candidate.path] = _taken(candidate, others, owners.get(key))
    return [judged.get(verdict.path, verdict) for verdict in verdicts] if judged else list(verdicts)


def _taken(candidate: Candidate, others: Sequence[Candidate], owner: str | None) -> Rejection:
    names = ", ".join(clean_line(other.path, 200) for other in others)
    keeps = f"the one in {clean_line(owner, 200)} is active and stays" if owner else "none of them is loaded"
    message = f"the exposed name {handler_name(candidate.manifest)} is also that of {names}; {keeps}"
    spans = (_span(candidate, primary=True), *(_span(other, primary=False) for other in others[:5]))
    texts = {each.path: each.snapshot.manifest.data for each in (candidate, *others)}
    found = render_all([diagnose("EVA-751", message, *spans)], texts)
    snapshot = candidate.snapshot
    return Rejection(candidate.id, candidate.path, snapshot.digest, found, snapshot, candidate.manifest)


def _span(candidate: Candidate, *, primary: bool) -> Span:
    spec, places = candidate.manifest.mcp, candidate.places
    word = "mcp.exposed_name" if spec is not None and spec.exposed_name is not None else "mcp.tool_name"
    return replace(places.get(word, Span(candidate.path)), primary=primary, label="" if primary else "also here")
