"""The gate before service: what an id was granted last, what a person approved, what the workspace is trusted with."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.credentials import common
from evatui.kernel.admission.grant import Grant, document_of
from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.render import render
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.admission.weighing import Weighed, reaches, weigh
from evatui.kernel.model.change import ChangeClass
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.diagnostic import Diagnostic, Reason, Span
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.ids import fold
from evatui.kernel.model.manifest import Isolation
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.ruling import Ruling
from evatui.kernel.registry.trust import Part, Trust, part_of
from evatui.kernel.storage.grant_book import Approval, GrantBook

__all__ = ["Gate", "Given"]

_MAX_DIFFERENCES = 12


@dataclass(frozen=True, slots=True)
class Given:
    """A grant on record under ``row``, and what was the last one of its id before: its text, and the generation.

    ``due`` is the approval, by id and digest, that took effect with it, where that was overdue.
    """

    row: int
    before: str | None
    number: int | None
    due: tuple[str, str] | None


class Gate:
    """``starting`` until the first look at the disk is done: what restarts the runtime takes effect then.

    Every method is blocking and may raise `StorageError`: for worker threads.
    """

    def __init__(self, book: GrantBook, trust: Trust, clock: Clock) -> None:
        self.starting = True
        self.trust = trust
        self._book = book
        self._clock = clock
        self._grants: dict[str, str] = {}
        self._given: dict[str, int] = {}
        """The generations that those were recorded for."""
        self._noting = threading.Lock()
        self._offers: dict[str, frozenset[str]] = {}
        """The ids that provide a capability name, which is folded, by their last grants."""
        self._approvals: dict[tuple[str, str], Approval] = {}
        self._overdue: set[tuple[str, str]] = set()
        """Those that were there when a runtime started frozen, until what they are for serves, or the thaw is over."""
        self._found: dict[str, str] = {}
        """Versions that were there when the runtime started, by id: what they wait for does not make them new."""

    def load(self) -> None:
        for key, (number, text) in self._book.last_grants().items():
            self._note(key, text, number)
        self._approvals = self._book.approvals()
        self.trust.load()

    def started(self, *, frozen: bool) -> None:
        """The first look at the disk is done. Nothing of it was published if the workspace is ``frozen``: then what had
        been approved before this start takes effect with the thaw, and waits for no start more."""
        self.starting = False
        if frozen:
            self._overdue.update(self._approvals)

    def thawed(self) -> None:
        """All that had waited was published, as at a start: what was approved for one waits for the next one."""
        self._overdue.clear()

    def rule(self, candidate: Candidate, policy: Policy, present: Collection[str]) -> Ruling:
        """May ``candidate`` go into service now? ``present`` are the ids that there are: of them one may provide a
        name, by its last grant, that it would take over."""
        others: dict[str, str] = {}
        for name in candidate.manifest.provides:
            keys = [key for key in self._offers.get(fold(name), ()) if key != candidate.id and key in present]
            if keys:
                others[name] = min(keys)
        return self._rule(candidate, policy, others)

    def rule_again(self, candidate: Candidate, ruling: Ruling) -> Ruling:
        """The same where nothing moved that the ruling rests on; what waited may have been approved meanwhile."""
        if not ruling.held and self._grants.get(candidate.id) == ruling.against:
            return ruling
        return self._rule(candidate, ruling.policy, ruling.providers)

    def serves(
        self, candidate: Candidate, policy: Policy, name: GenerationId, *, in_place: bool = False
    ) -> Given | None:
        """Records what a version is granted, before it goes into service; what is new of it is for `withdraw`.

        ``in_place`` of what the disk holds, which waits: that what serves is trusted says nothing about the other.
        """
        grant, given, due = Grant.of(candidate), None, (candidate.id, candidate.terms)
        text, before, number = grant.text(), self._grants.get(candidate.id), self._given.get(candidate.id)
        if (before, number) != (text, name.number):
            documents = {
                grant.input: document_of(candidate.input.document),
                grant.output: document_of(candidate.output.document),
            }
            row = self._book.record(candidate.id, name.number, text, documents, self._clock.now())
            given = Given(row, before, number, due if due in self._overdue else None)
            self._note(candidate.id, text, name.number)
        self._overdue.discard(due)
        part = part_of(candidate, policy)
        if part is not None and not in_place:
            self.trust.serves(part, self._clock.now())
        return given

    def withdraw(self, capability_id: str, given: Given) -> None:
        """It never served: what the next one is held against is the grant before."""
        self._book.withdraw(given.row)
        self._note(capability_id, given.before, given.number)
        if given.due is not None:
            self._overdue.add(given.due)

    def _note(self, key: str, text: str | None, number: int | None) -> None:
        with self._noting:  # several ids may come to provide one name in the same moment, each on a thread of its own
            had, has = _folded(self._grants.get(key)), _folded(text)
            for name in has - had:  # others read meanwhile: what it provides before and after it never ceases to
                self._offers[name] = self._offers.get(name, frozenset()) | {key}
            if text is not None and number is not None:
                self._grants[key], self._given[key] = text, number
            else:
                self._grants.pop(key, None)
                self._given.pop(key, None)
            for name in had - has:
                others = self._offers[name] - {key}
                if others:
                    self._offers[name] = others
                else:
                    del self._offers[name]

    def within(self, candidate: Candidate, name: GenerationId) -> Candidate:
        """A version that served before as ``name``, with no more than it had then: that was somebody's decision.

        It is sent no further credentials, and stays in a process of its own. Raises `CallFailed` ``PolicyDenied``
        where it would reach further all the same, unless no further than what served last.
        """
        texts = (self._book.grant_of(candidate.id, name.number), self._grants.get(candidate.id))
        grants = [Grant.read(text) for text in texts if text is not None]
        if not grants:
            return candidate
        had = grants[0]
        narrowed = replace(
            candidate,
            credentials=common(had.credentials, candidate.credentials),
            isolation=had.isolation if had.isolation is Isolation.PROCESS else candidate.isolation,
        )
        wider = [reaches(narrowed, grant) for grant in grants]
        if all(wider):
            raise failure(
                ErrorKind.POLICY_DENIED,
                f"{name.short} of {candidate.id} would reach further than it did: {'; '.join(wider[0])}. Take that"
                " back, or put its files back on disk, where they wait for approval:"
                f" eva capability approve {candidate.id} --digest {candidate.terms}",
                reason=Reason.APPROVAL_REQUIRED.value,
            )
        return narrowed

    def approve(self, candidate: Candidate, policy: Policy, approval: Approval) -> None:
        """Records an approval of this version; it is trusted with what it may do from now on."""
        self._book.approve(approval)
        key = approval.capability_id, approval.digest
        self._approvals[key] = approval
        self._overdue.discard(key)  # it was not covered by what had been approved before the start
        part = part_of(candidate, policy)
        if part is not None and not self.trust.has(part):
            self.trust.set([part], self._clock.now())

    def approval(self, capability_id: str, digest: str) -> Approval | None:
        return self._approvals.get((capability_id, digest))

    def forget(self, capability_id: str, digest: str) -> None:
        self._book.forget(capability_id, digest)
        self._approvals.pop((capability_id, digest), None)
        self._overdue.discard((capability_id, digest))

    def _rule(self, candidate: Candidate, policy: Policy, others: Mapping[str, str]) -> Ruling:
        text = self._grants.get(candidate.id)
        before = Grant.read(text) if text is not None else None
        if self.starting:
            self._found[candidate.id] = candidate.terms
        running = self._found.get(candidate.id) != candidate.terms
        weighed = weigh(candidate, before, running=running, providers=others, document=self._document)
        approval = _covering(self.approval(candidate.id, candidate.terms), weighed)
        part = part_of(candidate, policy)
        untrusted = part is not None and not self.trust.has(part)
        waits = list(self._waits(candidate, policy, weighed, approval))
        if part is not None and untrusted:
            waits.append(self._distrusts(candidate, part))
        texts = {candidate.path: candidate.snapshot.manifest.data}
        return Ruling(
            change_class=weighed.change_class,
            fields=weighed.fields,
            reason=waits[0].reason if waits else None,
            diagnostics=tuple(render(found, texts) for found in waits),
            untrusted=untrusted,
            approved=approval is not None,
            against=text,
            policy=policy,
            providers=others,
        )

    def _waits(
        self, candidate: Candidate, policy: Policy, weighed: Weighed, approval: Approval | None
    ) -> list[Diagnostic]:
        """The causes why it waits, those of the gravest class first; none where it does not."""
        restart = weighed.change_class is ChangeClass.RESTART
        due = self.starting or (candidate.id, candidate.terms) in self._overdue
        if not weighed.causes or (approval is not None and (due or not restart)):
            return []
        fix = "Restart the runtime: eva runtime restart" if approval is not None else _how(candidate, policy, restart)
        notes: tuple[str, ...] = ()
        if approval is not None:
            who = clean_line(approval.actor.id or approval.actor.type.value, 64)
            notes = (f"approved by {who} at {approval.at}; it takes effect when the runtime restarts",)
        ordered = sorted(weighed.causes, key=lambda cause: cause.reason is not Reason.RESTART_REQUIRED)
        return [replace(cause, fix=fix, notes=(*cause.notes, *notes)) for cause in ordered]

    def _distrusts(self, candidate: Candidate, part: Part) -> Diagnostic:
        changed = self.trust.differences(part)
        since = ", and it changed since it was trusted" if changed else ""
        message = f"{candidate.id} may use {', '.join(part.power)}; the workspace is not trusted with that yet{since}"
        notes = tuple(f"changed: {clean_line(line, 300)}" for line in changed[:_MAX_DIFFERENCES])
        span = candidate.places.get("id", Span(candidate.path))
        return diagnose("EVA-435", message, span, notes=notes)

    def _document(self, digest: str) -> Mapping[str, Any] | None:
        text = self._book.document(digest)
        found: Mapping[str, Any] | None = json.loads(text) if text is not None else None
        return found


def _folded(grant: str | None) -> frozenset[str]:
    """The names that a grant lets its id provide, as they are compared."""
    return frozenset(map(fold, json.loads(grant)["names"])) if grant is not None else frozenset()


def _covering(approval: Approval | None, weighed: Weighed) -> Approval | None:
    """An approval holds for what it was given for: against another grant the same bytes may reach further."""
    covers = approval is not None and all(cause.message in approval.what for cause in weighed.causes)
    return approval if covers else None


def _how(candidate: Candidate, policy: Policy, restart: bool) -> str:
    who = policy.settings["approvals"]["widening"]
    if who == "never":
        return "The policy allows no approval (approvals: {widening: never}): take it out of the manifest."
    command = f"eva capability approve {candidate.id} --digest {candidate.terms}"
    how = "Approve it in the console (a, approve)" if who == "console" else f"Approve it: {command}"
    return f"{how}, then restart the runtime: eva runtime restart" if restart else how
