"""What a reload would change: the disk's verdicts held against what serves. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from evatui.kernel.admission.codes import CODES, diagnose
from evatui.kernel.admission.render import render
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.model.change import ChangeClass
from evatui.kernel.model.diagnostic import Diagnostic, Reason, Span
from evatui.kernel.model.ids import fold
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.diff import difference
from evatui.kernel.registry.examples import Tried
from evatui.kernel.registry.rollout.beginning import Beginning
from evatui.kernel.registry.ruling import Ruling
from evatui.kernel.storage.history import ABSENT

__all__ = ["BY_HAND", "FROZEN", "KNOWN", "Action", "Change", "change_of", "compare", "main_verdicts", "plan_digest"]

_BY_RUNNING = frozenset({Reason.LUA_LOAD_FAILED, Reason.HEALTH_FAILED, Reason.EXAMPLES_FAILED})
"""Refusals that only loading could give: the same bytes are not loaded again by themselves."""

BY_HAND = "hot_reload is off: reload it by hand"
FROZEN = "the workspace is frozen: thaw it, or reload it by hand"
KNOWN = "known"
"""The reason of a change that refuses what is refused already."""


class Action(StrEnum):
    ADD = "add"
    UPDATE = "update"
    REMOVE = "remove"
    UNCHANGED = "unchanged"
    REJECT = "reject"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Change:
    """``key`` is the id, or the path of a file without a usable one; ``source``/``target`` name generations."""

    key: str
    path: str
    action: Action
    verdict: Candidate | Rejection | None = None
    source: str | None = None
    target: str | None = None
    diff: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    ruling: Ruling | None = None
    tried: Tried = Tried()
    causes: tuple[Diagnostic, ...] = ()
    """Why what the disk holds is in quarantine; rendered."""
    begins: Beginning | None = None
    """Of a version that goes into service."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        if isinstance(self.verdict, Rejection):
            return self.verdict.diagnostics
        if self.action is not Action.HOLD:
            return ()
        return self.ruling.diagnostics if self.ruling is not None and self.ruling.held else self.causes

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What a version that is no refusal says beside: it serves all the same."""
        return (*self.verdict.warnings, *self.tried.problems) if isinstance(self.verdict, Candidate) else ()

    @property
    def change_class(self) -> ChangeClass | None:
        if self.action in (Action.UNCHANGED, Action.REJECT):
            return None
        return self.ruling.change_class if self.ruling is not None else ChangeClass.HOT

    def waiting(self, ruling: Ruling) -> Change:
        """The change as one that waits for a person."""
        return replace(self, action=Action.HOLD, reason=ruling.reason or "", ruling=ruling)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.key,
            "path": self.path,
            "action": self.action.value,
            "from": self.source,
            "to": self.target,
            "digest": _named(self.verdict),
            "change_class": self.change_class.value if self.change_class else None,
            "diff": {**self.diff, "permissions": self.ruling.differences()} if self.ruling else dict(self.diff),
            "examples": [run.to_json() for run in self.tried.runs],
            "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics],
            "warnings": [warning.to_json() for warning in self.warnings],
            "reason": self.reason,
            "begins": self.begins.to_json() if self.begins is not None else None,
        }


def main_verdicts(
    verdicts: Mapping[str, Candidate | Rejection], capabilities: Mapping[str, Capability]
) -> tuple[dict[str, Candidate | Rejection], dict[str, Rejection]]:
    """One verdict for each id, and the refusals that belong to none, by path.

    A file without a usable id still speaks for the capability that it defined before. Where two
    files claim one id, the file of the serving one speaks for it, else the first.
    """
    owners = {capability.path: key for key, capability in capabilities.items() if not capability.gone}
    named: dict[str, Candidate | Rejection] = {}
    strays: dict[str, Rejection] = {}
    claimed: set[str] = set()
    for path, verdict in sorted(verdicts.items(), key=lambda item: (item[0] not in owners, item[0])):
        key = _id_of(verdict) or owners.get(path)
        if key is not None and fold(key) not in claimed:
            claimed.add(fold(key))
            named[key] = verdict
        elif isinstance(verdict, Rejection):
            strays[path] = verdict
    return named, strays


def _id_of(verdict: Candidate | Rejection) -> str | None:
    return verdict.manifest.id if isinstance(verdict, Candidate) else verdict.id


def compare(
    named: Mapping[str, Candidate | Rejection], capabilities: Mapping[str, Capability], *, explicit: bool, still: str
) -> list[Change]:
    """Changes in the order of ids.

    ``explicit``: someone asked, so a refused or unwatched version is tried again. ``still`` says why only what
    someone asked for is applied, empty where all is.
    """
    changes = [
        change_of(key, verdict, capabilities.get(key), explicit=explicit, still=still)
        for key, verdict in sorted(named.items())
    ]
    gone = Action.REMOVE if explicit or not still else Action.HOLD
    changes += [
        Change(key, capability.path, gone, source=_serving(capability), reason="" if explicit else still)
        for key, capability in sorted(capabilities.items())
        if key not in named and not capability.gone and ABSENT not in capability.quarantined
    ]
    return changes


def _serving(capability: Capability | None) -> str | None:
    return capability.active.name.id if capability and capability.active else None


def change_of(
    key: str, verdict: Candidate | Rejection, capability: Capability | None, *, explicit: bool, still: str
) -> Change:
    """What becomes of one id; as in `compare`."""
    serving = _serving(capability)
    if isinstance(verdict, Rejection):
        known = capability is not None and capability.rejection == verdict
        return Change(key, verdict.path, Action.REJECT, verdict, serving, reason=KNOWN if known else "")
    action, reason = _judge(verdict, capability, explicit)
    if action in (Action.ADD, Action.UPDATE) and still and not explicit:
        action, reason = Action.HOLD, still
    before = capability.active.candidate if capability and capability.active else None
    diff = difference(before, verdict) if action is Action.UPDATE else {}
    causes = (_quarantined(verdict, capability),) if reason == Reason.QUARANTINED and capability else ()
    return Change(key, verdict.path, action, verdict, serving, diff=diff, reason=reason, causes=causes)


def _quarantined(candidate: Candidate, capability: Capability) -> Diagnostic:
    code = "EVA-605" if candidate.digest in capability.deadly else "EVA-604"
    message = f"this version of {candidate.id} is in quarantine: {CODES[code].title}"
    found = diagnose(code, message, candidate.places.get("id", Span(candidate.path)))
    return render(found, {candidate.path: candidate.snapshot.manifest.data})


def _judge(candidate: Candidate, capability: Capability | None, explicit: bool) -> tuple[Action, str]:
    digest = candidate.snapshot.digest
    if capability is None or capability.gone:
        return Action.ADD, ""
    if candidate.terms in [generation.candidate.terms for generation in capability.serving]:
        return Action.UNCHANGED, ""
    if digest in capability.quarantined:
        return Action.HOLD, Reason.QUARANTINED.value
    if not explicit:
        refused = capability.rejection
        by_running = refused is not None and refused.digest == digest and refused.diagnostics[0].reason in _BY_RUNNING
        if by_running and not capability.again:
            return Action.UNCHANGED, "refused"
        if capability.active is not None and not capability.active.manifest.reload.hot_reload:
            return Action.HOLD, BY_HAND
    if capability.parked is not None and capability.parked_digest == digest and _rests(candidate, capability):
        return Action.UNCHANGED, ""
    return (Action.UPDATE if capability.active is not None else Action.ADD), ""


def _rests(candidate: Candidate, capability: Capability) -> bool:
    return not candidate.manifest.enabled or capability.hold is not None


def _named(verdict: Candidate | Rejection | None) -> str | None:
    """The digest that a person names it by."""
    return verdict.terms if isinstance(verdict, Candidate) else verdict.digest if verdict else None


def plan_digest(changes: Iterable[Change], epoch: str) -> str:
    """Names a plan: the same digest is the same set of changes over the same bytes and policy."""
    hashed = hashlib.sha256(epoch.encode())
    for change in changes:
        verdict = change.verdict
        digest = _named(verdict) or ""
        waits = change.ruling.reason if change.ruling is not None else None
        hashed.update(f"\n{change.key}\t{change.action}\t{change.source}\t{digest}\t{waits}".encode())
    return hashed.hexdigest()
