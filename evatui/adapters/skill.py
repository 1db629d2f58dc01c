"""The transport ``skill``: the text of a ``SKILL.md`` answers, for the agent that asked to follow."""

from __future__ import annotations

from typing import Any

from evatui.extensions.skills.catalogue import Catalogue, Listed
from evatui.extensions.skills.skills import Skills
from evatui.kernel.host.ports import Invocation, NotSent, WayState
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.tools import ServerInfo

__all__ = ["SkillWay"]

_REASONS = {
    "runtime_worker": "it is a runtime worker, which is never called",
    "policy_denied": "the policy keeps skills of the user's own from use",
}


class SkillWay:
    """An answer is of one version of the text, whose ``digest`` is in it: a newer one is for the calls after it.

    Nothing of a skill is run here. One that cannot be used on this machine does not answer either.
    """

    server: ServerInfo | None = None

    def __init__(self, adapter: Adapter, skills: Skills, mode: str) -> None:
        self._adapter = adapter
        self._skills = skills
        self._mode = mode

    @property
    def _name(self) -> str:
        return str(self._adapter.block["name"])

    @property
    def state(self) -> WayState:
        if not self._skills.looked:
            return WayState("idle")
        why = self._why_not(self._skills.latest)
        return WayState("down", why) if why else WayState("up")

    def target(self, invocation: Invocation) -> str:
        try:
            self._adapter.gate.check(self._adapter.id, self._mode, invocation.caller.type)
        except CallFailed as failed:
            raise NotSent(failed.error.kind, failed.error.message, retryable=False, **failed.error.details) from None
        return clean_line(self._name, 128)

    async def invoke(self, invocation: Invocation) -> Any:
        found = self._usable(await self._skills.known())
        skill = found.copy.skill
        return {
            "skill": skill.name,
            "version": skill.version,
            "description": skill.description,
            "location": found.copy.location,
            "digest": found.copy.digest,
            "allowed_tools": list(skill.allowed_tools) if skill.allowed_tools is not None else None,
            "instructions": skill.body,
            "payload": invocation.payload,
        }

    async def probe(self) -> None:
        why = self._why_not(await self._skills.look())
        if why:
            raise failure(ErrorKind.UNAVAILABLE, why)

    def adjust(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def start(self) -> None:
        """There is nothing to connect to."""

    async def close(self) -> None:
        """Nothing was started."""

    def _usable(self, known: Catalogue) -> Listed:
        found, why = known.named(self._name), self._why_not(known)
        if found is None:
            raise NotSent(ErrorKind.NOT_FOUND, why, retryable=True)
        if why:
            kind = ErrorKind.UNAVAILABLE if found.reason == "missing" else ErrorKind.POLICY_DENIED
            raise NotSent(kind, why, retryable=kind is ErrorKind.UNAVAILABLE, reason=found.reason)
        return found

    def _why_not(self, known: Catalogue) -> str:
        """Empty where it can be used."""
        name, found = clean_line(self._name, 128), known.named(self._name)
        if found is None:
            refused = next((one.diagnostics[0] for one in known.refused if one.name == self._name), None)
            return f"the skill {name} is refused: {refused.message}" if refused else f"there is no skill {name}"
        if found.reason == "missing":
            return f"the skill {name} lacks {clean_line(', '.join(found.copy.missing), 200)}"
        return f"the skill {name} does not answer: {_REASONS[found.reason]}" if found.reason else ""
