"""Rows of what extends agents: skills, the layers that they lie in, and files that would be skills."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.model.diagnostic import Diagnostic

__all__ = ["Extensions", "LayerRow", "RefusedSkillRow", "SkillRow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRow:
    """What a name stands for.

    ``reason`` says why it cannot be used, empty where it can: ``missing`` (programs and variables, by name, in
    ``missing``), ``policy_denied``, or ``runtime_worker``. ``shadows`` are the locations of lower ones of that name.
    """

    name: str
    description: str
    version: str
    kind: str
    available: bool
    reason: str
    missing: tuple[str, ...]
    layer: str
    location: str
    always: bool
    tools: bool
    shadows: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def key(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSkillRow:
    """``instead`` is the location of the skill that goes by its name, empty where none does."""

    path: str
    layer: str
    instead: str
    diagnostics: tuple[Diagnostic, ...]

    @property
    def key(self) -> str:
        return self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRow:
    """``kind`` is ``user``, ``parent``, ``project``, ``extra`` or ``builtin``.

    ``skills`` counts the files that are skills, shadowed ones too; ``allowed``: the policy lets them be used.
    """

    name: str
    kind: str
    folder: str
    allowed: bool
    skills: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    """``skills`` by name, ``layers`` from the highest to the lowest; ``problems`` are those of whole layers."""

    skills: tuple[SkillRow, ...] = ()
    refused: tuple[RefusedSkillRow, ...] = ()
    layers: tuple[LayerRow, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
