"""Skills as rows for consoles, and in the shapes that scripts rely on."""

from __future__ import annotations

from typing import Any

from evatui.control.extensions import Extensions, LayerRow, RefusedRow, SkillRow
from evatui.extensions.shared.layers import Layer
from evatui.extensions.skills.catalogue import Catalogue, Copy, Listed, RefusedFile
from evatui.kernel.admission.redact import veiled
from evatui.kernel.model.text import clean_line

__all__ = ["extensions", "layer_json", "listed", "refused_json", "shown", "skill_json"]

_MAX_ROWS = 1_000


def extensions(known: Catalogue) -> Extensions:
    """At most 1,000 skills, and as many refused files."""
    return Extensions(
        skills=tuple(_skill_row(one) for one in known.skills[:_MAX_ROWS]),
        refused=tuple(_refused_row(one) for one in known.refused[:_MAX_ROWS]),
        layers=tuple(_layer_row(layer, known) for layer in known.layers),
        problems=known.problems,
    )


def listed(known: Catalogue) -> dict[str, Any]:
    """``{skills, rejected, layers, problems}``."""
    return {
        "skills": [skill_json(one) for one in known.skills],
        "rejected": [refused_json(one) for one in known.refused],
        "layers": [layer_json(layer, known) for layer in known.layers],
        "problems": [problem.to_json() for problem in known.problems],
    }


def skill_json(one: Listed) -> dict[str, Any]:
    """The description is whole, and as it was written."""
    skill = one.copy.skill
    return {
        "name": one.name,
        "description": skill.description,
        "version": skill.version,
        "class": skill.kind.value,
        "available": one.available,
        "reason": one.reason,
        "missing": list(one.copy.missing),
        "requires": {"bins": list(skill.bins), "env": list(skill.env)},
        "allowed_tools": list(skill.allowed_tools) if skill.allowed_tools is not None else None,
        "always": skill.always,
        "by_hand": skill.by_hand,
        "tools": one.copy.tools,
        "stale": one.copy.stale,
        "layer": one.copy.layer.name,
        "location": one.copy.location,
        "shadows": [copy.location for copy in one.shadows],
        "diagnostics": [found.to_json() for found in one.diagnostics],
    }


def shown(one: Listed) -> dict[str, Any]:
    """`skill_json` with the front matter's ``fields``, as text, the ``body``, and the ``copies`` that it shadows."""
    skill = one.copy.skill
    copies = [_copy_json(copy, one.copy) for copy in one.shadows]
    return {**skill_json(one), "fields": veiled(skill.fields), "body": skill.body, "copies": copies}


def refused_json(one: RefusedFile) -> dict[str, Any]:
    return {
        "path": one.path,
        "layer": one.layer.name,
        "instead": one.instead,
        "diagnostics": [found.to_json() for found in one.diagnostics],
    }


def layer_json(layer: Layer, known: Catalogue) -> dict[str, Any]:
    row = _layer_row(layer, known)
    return {
        "name": row.name,
        "kind": row.kind,
        "folder": row.folder,
        "allowed": row.allowed,
        "skills": row.skills,
    }


def _copy_json(copy: Copy, above: Copy) -> dict[str, Any]:
    return {
        "layer": copy.layer.name,
        "location": copy.location,
        "version": copy.skill.version,
        "same": copy.digest == above.digest,
    }


def _skill_row(one: Listed) -> SkillRow:
    skill = one.copy.skill
    return SkillRow(
        name=clean_line(one.name, 128),
        description=clean_line(skill.description),
        version=clean_line(skill.version, 64),
        kind=skill.kind.value,
        available=one.available,
        reason=one.reason,
        missing=tuple(clean_line(name, 80) for name in one.copy.missing),
        layer=clean_line(one.copy.layer.name, 120),
        location=clean_line(one.copy.location),
        always=skill.always,
        tools=one.copy.tools,
        shadows=tuple(clean_line(copy.location) for copy in one.shadows),
        diagnostics=one.diagnostics,
    )


def _refused_row(one: RefusedFile) -> RefusedRow:
    return RefusedRow(
        kind="skill",
        path=clean_line(one.path),
        layer=clean_line(one.layer.name, 120),
        instead=clean_line(one.instead),
        diagnostics=one.diagnostics,
    )


def _layer_row(layer: Layer, known: Catalogue) -> LayerRow:
    return LayerRow(
        name=clean_line(layer.name, 120),
        kind=layer.kind.value,
        folder=clean_line(layer.shown),
        allowed=known.allows(layer),
        skills=known.found_in(layer),
    )
