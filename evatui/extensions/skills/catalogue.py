"""All layers over each other: which skill a name stands for, whether it can be used, and what it keeps from sight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evatui.extensions.shared.layers import Layer
from evatui.extensions.shared.local import UserLocal
from evatui.extensions.skills.package import Package
from evatui.extensions.skills.search import Found
from evatui.extensions.skills.skill import Refused, Skill, SkillClass
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.render import render
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span

__all__ = ["EMPTY", "Catalogue", "Copy", "Listed", "Looked", "RefusedFile", "catalogue"]


@dataclass(frozen=True, slots=True)
class Copy:
    """A skill as it was found, with what it needs and the machine has not, and what lies beside it.

    ``stale``: the file is refused as it is by now, and this is what it was before.
    """

    layer: Layer
    location: str
    skill: Skill
    digest: str
    package: Package | None
    missing: tuple[str, ...]
    stale: bool = False

    @property
    def tools(self) -> bool:
        """Does a manifest lie beside it?"""
        return self.package is not None


@dataclass(frozen=True, slots=True)
class Listed:
    """What a name stands for. ``reason`` says why it cannot be used, empty where it can."""

    copy: Copy
    reason: str
    shadows: tuple[Copy, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def name(self) -> str:
        return self.copy.skill.name

    @property
    def available(self) -> bool:
        return not self.reason


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """``name`` is what it would go by; ``instead`` the location of the skill that does, empty where none does."""

    layer: Layer
    path: str
    name: str
    diagnostics: tuple[Diagnostic, ...]
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Looked:
    """One look at the disk, before any policy: ``problems`` are those of whole layers."""

    layers: tuple[Layer, ...] = ()
    copies: tuple[Copy, ...] = ()
    refused: tuple[Found, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """``skills`` by name, ``layers`` from the highest to the lowest."""

    layers: tuple[Layer, ...] = ()
    skills: tuple[Listed, ...] = ()
    refused: tuple[RefusedFile, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    local: UserLocal = UserLocal(False)

    def allows(self, layer: Layer) -> bool:
        """Does the policy let what lies in it be used?"""
        return self.local.allowed or not layer.local

    def found_in(self, layer: Layer) -> int:
        """How many skills lie in it, shadowed ones too."""
        return sum(copy.layer == layer for one in self.skills for copy in (one.copy, *one.shadows))

    def named(self, name: str) -> Listed | None:
        return next((one for one in self.skills if one.name == name), None)


EMPTY = Catalogue()


def catalogue(looked: Looked, local: UserLocal) -> Catalogue:
    """The higher layer wins by name; what the policy keeps from use wins over nothing that can be used."""
    rank = {layer: at for at, layer in enumerate(looked.layers)}

    def order(copy: Copy) -> tuple[bool, int, str]:
        return _denied(copy, local), rank[copy.layer], copy.location

    by_name: dict[str, list[Copy]] = {}
    for copy in sorted(looked.copies, key=order):
        by_name.setdefault(copy.skill.name, []).append(copy)
    skills = tuple(_listed(by_name[name], local) for name in sorted(by_name))
    serving = {one.name: one.copy.location for one in skills}
    refused = tuple(_refused(one, serving) for one in looked.refused)
    return Catalogue(looked.layers, skills, refused, looked.problems, local)


def _denied(copy: Copy, local: UserLocal) -> bool:
    return copy.layer.local and not local.allowed


def _listed(copies: Sequence[Copy], local: UserLocal) -> Listed:
    first, *rest = copies
    beside = first.package.diagnostics if first.package is not None else ()
    told = [*first.skill.diagnostics, *beside, *_same_layer(first, rest)]
    if first.stale:
        told.append(_warning("EVA-820", f"{first.location} is refused as it is by now; what it was goes on", first))
    if _denied(first, local):
        told.append(_warning("EVA-810", f"{first.location} is the user's own: not in use by {local.place}", first))
    return Listed(first, _reason(first, local), tuple(rest), tuple(told))


def _reason(copy: Copy, local: UserLocal) -> str:
    if copy.skill.kind is SkillClass.WORKER:
        return "runtime_worker"
    if _denied(copy, local):
        return "policy_denied"
    return "missing" if copy.missing else ""


def _same_layer(first: Copy, rest: Iterable[Copy]) -> Iterable[Diagnostic]:
    for other in rest:
        if other.layer == first.layer:
            message = f"{first.location} and {other.location} have one name; the first is taken"
            yield _warning("EVA-812", message, first, other)


def _warning(code: str, message: str, *copies: Copy) -> Diagnostic:
    spans = (Span(copy.location, primary=at == 0) for at, copy in enumerate(copies))
    return render(diagnose(code, message, *spans, level=Level.WARNING), {})


def _refused(found: Found, serving: dict[str, str]) -> RefusedFile:
    assert isinstance(found.skill, Refused)
    instead = serving.get(found.skill.name, "")
    return RefusedFile(found.layer, found.location, found.skill.name, found.skill.diagnostics, instead)
