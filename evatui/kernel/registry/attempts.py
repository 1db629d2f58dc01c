"""Attempts: versions on their way into service, and why they rest, wait or are refused."""

from __future__ import annotations

from collections.abc import Callable

from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.model.call import Actor
from evatui.kernel.model.lifecycle import State
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.capability import Attempt, Capability
from evatui.kernel.registry.edges import Edges
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.refusals import Refusals
from evatui.kernel.registry.ruling import Ruling

__all__ = ["Attempts"]


class Attempts:
    """Whatever becomes of one, what serves goes on serving. ``changed`` is called after each edge; it must be cheap."""

    def __init__(self, edges: Edges, journal: Journal, refusals: Refusals, changed: Callable[[], None]) -> None:
        self._edges = edges
        self._journal = journal
        self._refusals = refusals
        self._changed = changed

    def begin(self, capability: Capability, actor: Actor, digest: str, resumes: str = "") -> Attempt:
        """The version with the closure ``digest`` enters validation: a refused or switched-off one again, or a new one.

        One that was held is let go of, but for the one with the digest ``resumes``: it waits no longer.
        """
        attempt = capability.attempt
        if attempt is not None and attempt.ruling is not None:
            if attempt.digest == resumes:
                attempt.ruling = None
                return attempt
            self.forget(capability, actor)
            attempt = None
        if attempt is None:
            attempt = capability.parked
        if attempt is None:
            attempt = Attempt(State.PENDING, self._journal.at())
            self._edges.step(capability, None, State.PENDING, None, actor)
        else:
            self._edges.move(capability, attempt, State.PENDING, actor)
        if attempt is capability.parked:
            capability.parked = None
        attempt.name = None
        capability.attempt = attempt
        capability.again = False
        serving = capability.active
        self._journal.tell(
            "loading",
            capability.id,
            State.PENDING,
            from_generation=serving.name.id if serving else None,
            actor=actor,
            digest=digest,
        )
        return attempt

    def refuse(self, capability: Capability, rejection: Rejection, actor: Actor) -> None:
        """The attempt ends in Rejected; whatever serves goes on serving."""
        attempt = capability.attempt or self.begin(capability, actor, rejection.digest)
        capability.denied = False
        if attempt.state is not State.REJECTED:  # it was refused before, and nothing came of trying it again
            self._edges.move(capability, attempt, State.REJECTED, actor, rejection.diagnostics[0].reason.value)
        self.tell_refused(capability, rejection, State.REJECTED, actor, attempt.name)

    def tell_refused(
        self,
        capability: Capability,
        rejection: Rejection,
        state: State,
        actor: Actor,
        name: GenerationId | None = None,
    ) -> None:
        """``name`` is what the version was called, if it came so far."""
        generation, reason = name.id if name else None, rejection.diagnostics[0].reason.value
        capability.rejection = rejection
        capability.rejected_at = self._journal.at()
        serving = capability.active
        self._refusals.note(rejection, capability.id, serving, capability.rejected_at)
        self._journal.tell(
            "reload_failed" if serving else "rejected",
            capability.id,
            state,
            generation=generation,
            from_generation=serving.name.id if serving else None,
            reason=reason,
            diagnostics=rejection.diagnostics,
            actor=actor,
            digest=rejection.digest,
        )
        self._journal.write(
            Code.CAPABILITY_REJECTED,
            Outcome.DENIED,
            actor,
            capability_id=capability.id,
            generation=generation,
            reason=reason,
            digest=rejection.digest,
        )

    def shadow_loaded(self, capability: Capability, name: GenerationId, actor: Actor) -> None:
        attempt = capability.attempt
        if attempt is not None:
            attempt.name = name
            if attempt.state is not State.SHADOW:
                self._edges.move(capability, attempt, State.SHADOW, actor)

    def hold(self, capability: Capability, candidate: Candidate, ruling: Ruling, actor: Actor) -> None:
        """A sound version that waits for a person; whatever serves goes on serving."""
        attempt = capability.attempt
        assert attempt is not None  # it was loaded in the shadow
        attempt.digest, attempt.ruling = candidate.terms, ruling
        capability.rejection = None
        capability.denied = False
        reason = ruling.reason.value if ruling.reason else ""
        generation = attempt.name.id if attempt.name else None
        serving = capability.active
        self._journal.tell(
            "approval_required",
            capability.id,
            State.SHADOW,
            generation=generation,
            from_generation=serving.name.id if serving else None,
            reason=reason,
            diagnostics=ruling.diagnostics,
            actor=actor,
        )
        self._journal.write(
            Code.CAPABILITY_HELD,
            Outcome.DENIED,
            actor,
            capability_id=capability.id,
            generation=generation,
            reason=reason,
            digest=candidate.terms,
        )
        self._changed()

    def forget(self, capability: Capability, actor: Actor) -> None:
        """What was refused on disk is no longer there: the disk holds what serves, or nothing."""
        capability.rejection = None
        if capability.attempt is not None:
            self._edges.move(capability, capability.attempt, State.UNREGISTERED, actor)
            capability.attempt = None

    def park(self, capability: Capability, candidate: Candidate, actor: Actor, reason: str) -> None:
        """A sound version that must not serve: switched off by its manifest or held by an operator."""
        self.rest(capability, candidate.snapshot.digest, actor, reason)
        capability.rejection = None
        capability.denied = False

    def rest(self, capability: Capability, digest: str, actor: Actor, reason: str) -> None:
        attempt = capability.attempt
        if attempt is not None:
            self._edges.move(capability, attempt, State.DISABLED, actor, reason)
            self._edges.drop_parked(capability, actor)
            capability.parked, capability.attempt = attempt, None
        capability.parked_digest = digest
