"""Front matter as fields with their places: strictly as YAML, and where that fails as far as it is plain what is meant.

Every value is text, as its author wrote it: ``1.10``, ``yes`` and ``2026-01-31`` too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from evatui.extensions.skills.entries import RESTRICTS, Entry, entries, field_name
from evatui.extensions.skills.front_matter import Front
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.model.diagnostic import Diagnostic, Edit, Level, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.decoding import YamlProblem
from evatui.kernel.workspace.lines import Place
from evatui.kernel.workspace.yaml import Node, Style, parse

__all__ = ["Fields", "hopeless", "read"]

_TWICE = "EVA-104"
_MAX_BROKEN = 1 << 16
_MAX_ENTRIES = 100
"""Characters and entries of front matter that is no YAML: each entry is read alone, in its place."""


@dataclass(frozen=True, slots=True)
class Fields:
    """``nodes`` by field name, ``keys`` where each key stands. ``found`` has errors where that is not all of it."""

    nodes: Mapping[str, Node]
    keys: Mapping[str, Place]
    found: tuple[Diagnostic, ...]


def read(front: Front, file: str) -> Fields:
    """All that is wrong with it is found at once."""
    try:
        node = parse(front.text.encode(), file, all_text=True)
    except YamlProblem as problem:
        return _by_entries(front, file, problem.diagnostics)
    if isinstance(node.value, dict):
        return _named(node.value, node.keys, ())
    if node.style is Style.PLAIN and not node.text:
        return Fields({}, {}, ())
    message = "the front matter is a list or a text; it must be a mapping such as description: …"
    return Fields({}, {}, (diagnose("EVA-804", message, node.span()),))


def hopeless(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The problems of a reader, as those of a skill: what and where are kept, and how to mend it."""
    return tuple(diagnose("EVA-804", one.message, *one.spans, fix=one.fix) for one in found)


def _by_entries(front: Front, file: str, problems: tuple[Diagnostic, ...]) -> Fields:
    parts = entries(front.text) if len(front.text) <= _MAX_BROKEN else None
    if parts is None or len(parts) > _MAX_ENTRIES or any(problem.code == _TWICE for problem in problems):
        return Fields({}, {}, hopeless(problems))
    nodes: dict[str, Node] = {}
    keys: dict[str, Place] = {}
    found: list[Diagnostic] = []
    for entry in parts:
        if entry.key in keys:
            found.append(_twice(entry.key, keys[entry.key], Place(entry.line, 1, entry.line, len(entry.key) + 1), file))
            continue
        try:
            alone = parse(entry.source.encode(), file, all_text=True)
            assert isinstance(alone.value, dict)  # it begins with a key
            nodes |= alone.value
            keys |= alone.keys
        except YamlProblem as problem:
            node, told = _taken(entry, file, problem.diagnostics)
            nodes[entry.key], keys[entry.key] = node, Place(entry.line, 1, entry.line, len(entry.key) + 1)
            found += told
    return _named(nodes, keys, tuple(found) or hopeless(problems))


def _taken(entry: Entry, file: str, problems: tuple[Diagnostic, ...]) -> tuple[Node, tuple[Diagnostic, ...]]:
    """What a broken entry says, or why that cannot be told."""
    where, name, folded = entry.place, field_name(entry.key), entry.folded
    node = Node(folded or "", file, where, Style.PLAIN, folded or "")
    if name in RESTRICTS:
        return node, (_restricts(name, problems),)
    if (hidden := entry.hides) is not None:
        message = f"{hidden} seems to stand inside of {clean_line(entry.key, 60)}, so it is not in force"
        return node, (diagnose("EVA-807", message, where.span(file), fix="Begin it at the left edge."),)
    if folded is None and name == "description":
        return node, hopeless(problems)
    if folded is None:
        raw = "\n".join((entry.value, *entry.lines[1:])).strip()
        message = f"{clean_line(entry.key, 60)} is kept as it is written: {problems[0].message}"
        return replace(node, value=raw, text=raw), (_warning(message, where.span(file)),)
    message = f"{clean_line(entry.key, 60)} was read as text, all of it: {problems[0].message}"
    return node, (replace(_warning(message, where.span(file)), edits=(_quoting(where, file, folded),)),)


def _restricts(name: str, problems: tuple[Diagnostic, ...]) -> Diagnostic:
    return diagnose("EVA-807", f"{name} cannot be read: {problems[0].message}", *problems[0].spans)


def _warning(message: str, *spans: Span) -> Diagnostic:
    return diagnose("EVA-805", message, *spans, level=Level.WARNING)


def _twice(name: str, first: Place, second: Place, file: str) -> Diagnostic:
    message = f"{clean_line(name, 60)} is given twice, first in line {first.line}"
    earlier = first.span(file, "first given here", primary=False)
    return diagnose("EVA-804", message, second.span(file), earlier, fix="Keep one of the two.")


def _quoting(where: Place, file: str, text: str) -> Edit:
    return Edit(where.span(file), json.dumps(text, ensure_ascii=False))


def _named(nodes: Mapping[str, Node], keys: Mapping[str, Place], found: tuple[Diagnostic, ...]) -> Fields:
    """By the names that the fields have here. Two spellings of one field are the field given twice."""
    named: dict[str, Node] = {}
    places: dict[str, Place] = {}
    for key, node in nodes.items():
        name = field_name(key)
        if name in named:
            found = (*found, _twice(name, places[name], keys[key], node.file))
        else:
            named[name], places[name] = node, keys[key]
    return Fields(named, places, found)
