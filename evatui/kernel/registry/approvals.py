"""What a person decides about versions that wait: approve one, or trust the workspace."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from typing import Any

from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.change import ChangeClass
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.capability import Attempt, Capability
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.providers.providers import Providers
from evatui.kernel.registry.receipt import Receipt, guard
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.reload import Reloader
from evatui.kernel.registry.trust import Part, part_of
from evatui.kernel.storage.grant_book import Approval

__all__ = ["Approvals"]

_SERVES_ON_START = "approved; it takes effect when the runtime restarts (eva runtime restart)"


class Approvals:
    def __init__(self, registry: Registry, reloader: Reloader, gate: Gate, providers: Providers, clock: Clock) -> None:
        self._registry = registry
        self._reloader = reloader
        self._gate = gate
        self._providers = providers
        self._clock = clock

    async def approve(
        self, capability_id: str, digest: str, actor: Actor, if_generation: str | None = None, typed: str | None = None
    ) -> Receipt:
        """Lets the version with ``digest`` that waits go into service: at once, or at the next start.

        ``typed`` is the id as somebody typed it at the console. Raises `CallFailed`: ``Conflict`` where nothing
        waits, or something else by now; ``PolicyDenied`` where the policy gives this to nobody, or to the console.
        """
        started = self._clock.monotonic()
        capability, held, candidate = self._waiting(capability_id)
        guard(capability, if_generation)
        if digest != held.digest:
            message = f"another version of {capability.id} waits by now: {held.digest}"
            raise failure(ErrorKind.CONFLICT, message, digest=held.digest)
        ruling = held.ruling
        assert ruling is not None  # that is what waiting means
        self._may_approve(capability, ruling.policy, digest, actor, typed)
        graver = ruling.change_class if ruling.change_class is not ChangeClass.HOT else ChangeClass.APPROVAL
        what = "; ".join(found.message for found in ruling.diagnostics)
        approval = Approval(capability.id, digest, graver, what, actor, self._registry.journal.at())
        source = capability.active.name if capability.active else None
        await asyncio.to_thread(self._gate.approve, candidate, ruling.policy, approval)
        self._registry.journal.write(
            Code.CAPABILITY_APPROVED,
            Outcome.OK,
            actor,
            capability_id=capability.id,
            generation=held.name.id if held.name else None,
            digest=digest,
            change_class=graver.value,
            what=what,
        )
        await self._reloader.run(actor=actor, explicit=True, ids=(capability.id,))
        serving = capability.active
        serves = serving is not None and serving.candidate.terms == digest
        still = capability.held.ruling if capability.held is not None else None
        note = "" if serves else _SERVES_ON_START if still is not None else f"it is {capability.state}"
        return Receipt(
            id=capability.id,
            action="approve",
            source=source,
            target=serving.name if serving is not None and serves else None,
            at=approval.at,
            actor=actor.id or actor.type.value,
            duration_ms=(self._clock.monotonic() - started) * 1000,
            note=note,
        )

    async def revoke(self, capability_id: str, digest: str, actor: Actor) -> Receipt:
        """Forgets an approval that has not taken effect. Raises `CallFailed` ``Conflict`` where that version serves."""
        started = self._clock.monotonic()
        capability = self._known(capability_id)
        if capability.active is not None and capability.active.candidate.terms == digest:
            message = f"that version of {capability.id} serves already: roll it back instead"
            raise failure(ErrorKind.CONFLICT, message)
        if self._gate.approval(capability.id, digest) is None:
            raise failure(ErrorKind.NOT_FOUND, f"no version of {capability.id} with that digest was approved")
        await asyncio.to_thread(self._gate.forget, capability.id, digest)
        self._registry.journal.write(
            Code.CAPABILITY_APPROVAL_REVOKED, Outcome.OK, actor, capability_id=capability.id, digest=digest
        )
        await self._reloader.run(actor=actor, explicit=True, ids=(capability.id,))
        return Receipt(
            id=capability.id,
            action="revoke",
            source=None,
            target=None,
            at=self._registry.journal.at(),
            actor=actor.id or actor.type.value,
            duration_ms=(self._clock.monotonic() - started) * 1000,
            note="the approval is forgotten",
        )

    # -- trust ------------------------------------------------------------------------------

    def trusted(self) -> dict[str, Any]:
        """All that needs trust here: ``{vouched, digest, parts: [{name, digest, status, power, files, changed}]}``.

        ``status`` is ``trusted``, ``held`` or ``changed``; ``digest`` names the list as a whole, ``files`` (path to
        digest) what a part is made of, and ``changed`` says how it differs from what was trusted.
        """
        parts = [self._told(part) for part in self._all_parts()]
        text = "\n".join(f"{part['name']} {part['digest']}" for part in parts)
        return {
            "vouched": self._gate.trust.vouched,
            "digest": hashlib.sha256(text.encode()).hexdigest(),
            "parts": parts,
        }

    async def trust(self, actor: Actor, expected: str | None = None) -> dict[str, Any]:
        """Trusts all that `trusted` lists, and serves what waited for nothing else.

        ``expected`` is the digest of the list that somebody saw: raises `CallFailed` ``Conflict`` where it moved.
        """
        seen = self.trusted()
        if expected is not None and expected != seen["digest"]:
            raise failure(ErrorKind.CONFLICT, "what would be trusted has changed since you looked")
        parts = self._all_parts()
        await asyncio.to_thread(self._gate.trust.set, parts, self._clock.now())
        told = {part.name: part.digest for part in parts}
        self._registry.journal.write(Code.WORKSPACE_TRUSTED, Outcome.OK, actor, parts=told)
        await self._reloader.run(actor=actor, explicit=True)
        return {**self.trusted(), "waiting": self._still()}

    async def distrust(self, actor: Actor) -> dict[str, Any]:
        """Trusts nothing here any more: what needs it takes no new calls, and waits."""
        powerful = [capability for capability, _ in self._parts()]
        revoked = await asyncio.to_thread(self._gate.trust.revoke)
        self._registry.journal.write(Code.WORKSPACE_DISTRUSTED, Outcome.OK, actor, revoked=revoked)
        if not self._gate.trust.vouched:
            for capability in powerful:
                self._registry.withdraw(capability, State.UNREGISTERED, actor, "trust was revoked")
            self._providers.distrust(actor)
        await self._reloader.run(actor=actor, explicit=True)
        return {**self.trusted(), "waiting": self._still()}

    def _all_parts(self) -> list[Part]:
        return [*(part for _, part in self._parts()), *(part for _, part in self._providers.parts())]

    def _parts(self) -> Iterator[tuple[Capability, Part]]:
        policy = self._reloader.policy
        for _, capability in sorted(self._registry.capabilities.items()):
            candidate = capability.candidate
            if policy is not None and candidate is not None and not capability.gone:
                part = part_of(candidate, policy)
                if part is not None:
                    yield capability, part

    def _told(self, part: Part) -> dict[str, Any]:
        trust = self._gate.trust
        changed = trust.differences(part)
        status = "trusted" if trust.has(part) else "changed" if changed else "held"
        return {
            "name": part.name,
            "digest": part.digest,
            "status": status,
            "power": dict(part.power),
            "files": dict(part.files),
            "changed": changed,
        }

    def _still(self) -> list[dict[str, str]]:
        """What waits for something else than trust."""
        return [
            {"id": key, "digest": held.digest, "reason": held.ruling.reason or ""}
            for key, capability in sorted(self._registry.capabilities.items())
            if (held := capability.held) is not None and held.ruling is not None
        ] + [
            {"id": key, "digest": held.adapter.digest, "reason": held.diagnostics[0].reason.value}
            for key, held in sorted(self._providers.held.items())
        ]

    # -- guards -----------------------------------------------------------------------------

    def _known(self, capability_id: str) -> Capability:
        capability = self._registry.capabilities.get(capability_id)
        if capability is None or capability.gone:
            raise failure(ErrorKind.NOT_FOUND, f"no capability with the id {clean_line(capability_id, 128)}")
        return capability

    def _waiting(self, capability_id: str) -> tuple[Capability, Attempt, Candidate]:
        capability = self._known(capability_id)
        held, candidate = capability.held, capability.candidate
        if held is None or candidate is None or candidate.terms != held.digest:
            raise failure(ErrorKind.CONFLICT, f"no version of {capability.id} waits for approval")
        return capability, held, candidate

    def _may_approve(
        self, capability: Capability, policy: Policy, digest: str, actor: Actor, typed: str | None
    ) -> None:
        who = policy.settings["approvals"]["widening"]
        at_console = actor.type is CallerType.USER and typed == capability.id
        refusal = {
            "never": "the policy allows no approval (approvals: {widening: never})",
            "console": "it is approved at the console, by typing the id (approvals: {widening: console})",
        }.get(who)
        if refusal is None or (who == "console" and at_console):
            return
        self._registry.journal.write(
            Code.CAPABILITY_APPROVAL_REFUSED,
            Outcome.DENIED,
            actor,
            capability_id=capability.id,
            digest=digest,
            reason=refusal,
        )
        raise failure(ErrorKind.POLICY_DENIED, refusal)
