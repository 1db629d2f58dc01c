"""A skill as it is understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evatui.kernel.model.diagnostic import Diagnostic

__all__ = ["MAX_BYTES", "Refused", "Skill", "SkillClass"]

MAX_BYTES = 1 << 20


class SkillClass(StrEnum):
    """What may become of a skill: a WORKFLOW is told to agents, a WORKER is only shown."""

    WORKFLOW = "workflow_skill"
    WORKER = "runtime_worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """``name``, ``description`` and ``body`` are whole and as written; ``allowed_tools`` None where nothing is said.

    ``by_hand``: people may use it, but no agent is told of it.

    ``fields`` is all of the front matter, every value as text, in lists and mappings as it was given.
    """

    name: str
    description: str
    version: str = ""
    kind: SkillClass = SkillClass.WORKFLOW
    always: bool = False
    by_hand: bool = False
    bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] | None = None
    fields: Mapping[str, Any]
    body: str
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that would be a skill; ``name`` is the one that it, or else its folder, has."""

    name: str
    diagnostics: tuple[Diagnostic, ...]
