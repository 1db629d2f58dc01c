"""Who is kept out of the runtime's own process: sources without trust, and whoever had to be stopped too often.

Used on the kernel's loop only, but for the strikes, which come from the threads of Lua.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.lua.engine import LoadedProgram
from evatui.kernel.lua.worker.workers import Workers
from evatui.kernel.model.call import KERNEL
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import Isolation, TrustSource
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.conduct import Conduct
from evatui.kernel.registry.registry import Registry

__all__ = ["STRIKES", "STUCK", "Warden"]

STRIKES = 2
"""Calls that had to be stopped, after which an ``auto`` capability is moved to a process of its own."""
STUCK = 2
"""Threads that did not come back from a capability, after which it is moved whatever its manifest says."""


class Warden:
    """Decides where code runs, and moves it. A demotion holds until an operator lifts it or the runtime ends."""

    def __init__(self, registry: Registry, workers: Workers) -> None:
        self._registry = registry
        self._workers = workers
        self._trusted: tuple[TrustSource, ...] = tuple(TrustSource)

    def place(self, candidate: Candidate) -> Isolation:
        """Where the next generation of a capability runs: no new version gets round a demotion."""
        capability = self._registry.capabilities.get(candidate.id)
        demoted = capability is not None and capability.conduct.demoted
        return Isolation.PROCESS if demoted or self._left(candidate) else candidate.isolation

    def strikes_of(self, candidate: Candidate) -> Callable[[ErrorKind], None]:
        """For the sandbox to call, from any thread, when it had to stop what runs there."""
        loop = asyncio.get_running_loop()

        def strike(kind: ErrorKind) -> None:
            with contextlib.suppress(RuntimeError):  # a loop that is closed: nothing of it runs any more
                loop.call_soon_threadsafe(self.struck, candidate, kind)

        return strike

    def struck(self, candidate: Candidate, kind: ErrorKind) -> None:
        capability = self._registry.capabilities.get(candidate.id)
        if capability is None:  # a plan tried it, and nothing of it was ever served
            return
        conduct = capability.conduct
        conduct.strikes[kind] += 1
        conduct.last = self._registry.journal.at()
        if candidate.isolation is Isolation.IN_PROCESS and not (conduct.demoted or conduct.stranded):
            self._workers.open()  # in the background, on the first strike: on the last one they are ready
            if _enough(candidate, conduct):
                self._demote(capability, kind)
        self._registry.on_change()

    def settle(self, candidate: Candidate, program: LoadedProgram) -> None:
        """A version is about to serve: where it was to be placed may have changed while it was loading."""
        if self.place(candidate) is Isolation.PROCESS:
            _move(program)

    def follow(self, policy: Policy) -> None:
        """What the policy of now does not trust leaves the process; calls in flight end where they are."""
        if policy.trusted_sources == self._trusted:
            return
        self._trusted = policy.trusted_sources
        for capability in self._registry.capabilities.values():
            for generation in capability.generations:
                if self._left(generation.candidate):
                    self._workers.open()
                    _move(generation.program)

    def _left(self, candidate: Candidate) -> bool:
        """Has its source lost the trust that it had when it was admitted?"""
        return self._workers.available and candidate.manifest.trust not in self._trusted

    def pardon(self, capability: Capability) -> Conduct:
        """Forgets what it did; its next generation runs where it belongs. Returns what was forgotten."""
        before, capability.conduct = capability.conduct, Conduct()
        return before

    def _demote(self, capability: Capability, kind: ErrorKind) -> None:
        journal, conduct = self._registry.journal, capability.conduct
        serving = capability.active.name.id if capability.active else None
        strikes = {kind.value: count for kind, count in conduct.strikes.items()}
        if self._workers.available and not self._workers.problem:
            conduct.demoted = journal.at()
            for generation in capability.generations:
                _move(generation.program)
            what, code, outcome = "demoted", Code.CAPABILITY_DEMOTED, Outcome.OK
        else:
            conduct.stranded = journal.at()
            what, code, outcome = "demotion_failed", Code.CAPABILITY_DEMOTION_FAILED, Outcome.ERROR
        state = capability.state
        journal.tell(what, capability.id, state, generation=serving, reason=kind.value, strikes=strikes)
        journal.write(
            code,
            outcome,
            KERNEL,
            capability_id=capability.id,
            generation=serving,
            error_kind=kind.value,
            strikes=strikes,
        )


def _enough(candidate: Candidate, conduct: Conduct) -> bool:
    by_hand = candidate.manifest.isolation is Isolation.IN_PROCESS
    return conduct.stuck >= STUCK or (not by_hand and conduct.strikes.total() >= STRIKES)


def _move(program: LoadedProgram) -> None:
    if program.isolation is Isolation.IN_PROCESS:
        program.move_to_process()
