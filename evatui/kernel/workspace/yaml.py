"""YAML with positions: bytes in, a tree out in which every key and value knows where it stands.

A strict subset: one document, text keys, no key twice, no anchors, aliases or tags, scalars by the core
schema of YAML 1.2, and bounds on size, depth and number of values. Merge keys (``<<``) are ordinary keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import yaml

from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.codes import reading_diagnostic
from evatui.kernel.workspace.decoding import YamlProblem, decode
from evatui.kernel.workspace.lines import Lines, Place
from evatui.kernel.workspace.scalars import Scalar, UnfitNumber, resolve

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "Node",
    "Place",
    "Style",
    "YamlProblem",
    "key_place",
    "parse",
    "place",
    "plain",
]

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_NODES = 10_000
_MAX_DIAGNOSTICS = 20


class Style(Enum):
    PLAIN = "plain"
    QUOTED = "quoted"
    BLOCK = "block"
    COLLECTION = "collection"


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands. ``text`` is a scalar as written, without quotes; ``keys`` is for mappings."""

    value: Scalar | list[Node] | dict[str, Node]
    file: str
    place: Place
    style: Style = Style.COLLECTION
    text: str = ""
    keys: Mapping[str, Place] = field(default_factory=dict)

    def span(self, label: str = "", *, primary: bool = True) -> Span:
        return self.place.span(self.file, label, primary=primary)


def parse(data: bytes, file: str, *, all_text: bool = False) -> Node:
    """The one document in ``data``; an empty file is a null. ``file`` is relative to the workspace.

    ``all_text``: whatever is written without quotes is text as well, ``yes`` and ``1.10`` too, and so are keys.

    Raises `YamlProblem`.
    """
    if len(data) > MAX_BYTES:
        message = f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read"
        raise YamlProblem([reading_diagnostic("EVA-111", message, Span(file))])
    text = decode(data, file)
    return _Reader(text, file, all_text).read()


def plain(node: Node) -> Any:
    """The value without positions: dicts, lists, text, numbers, booleans, None."""
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [plain(child) for child in node.value]
    return node.value


def place(node: Node, pointer: Sequence[str | int]) -> Span:
    """Where the value at ``pointer`` stands.

    Where there is no such value: the key (else the value) that the longest existing part of ``pointer`` leads to.
    """
    found, key, complete = _follow(node, pointer)
    return found.span() if complete or key is None else key.span(node.file)


def key_place(node: Node, pointer: Sequence[str | int]) -> Span:
    """Where the key that ends ``pointer`` stands; for a list's item, and where there is no key, as `place`."""
    _, key, complete = _follow(node, pointer)
    return key.span(node.file) if complete and key is not None else place(node, pointer)


def _follow(node: Node, pointer: Sequence[str | int]) -> tuple[Node, Place | None, bool]:
    key: Place | None = None
    for step in pointer:
        value = node.value
        if isinstance(value, dict) and str(step) in value:
            node, key = value[str(step)], node.keys[str(step)]
        elif isinstance(value, list) and str(step).isdecimal() and int(step) < len(value):
            node, key = value[int(step)], None
        else:
            return node, key, False
    return node, key, True


class _Reader:
    """One walk over libyaml's events, so that bounds hold before anything is built."""

    def __init__(self, text: str, file: str, all_text: bool) -> None:
        self._file = file
        self._all_text = all_text
        self._lines = Lines(text)
        self._next: Callable[[], Any] = yaml.CSafeLoader(text).get_event
        self._problems: list[Diagnostic] = []
        self._nodes = 0

    def read(self) -> Node:
        try:
            node = self._document()
        except yaml.YAMLError as error:
            self._syntax(error)
        except _TooMuch:
            pass
        if self._problems:
            raise YamlProblem(self._problems)
        return node

    def _document(self) -> Node:
        node = Node(None, self._file, self._lines.place(0, 0), Style.PLAIN)
        documents = 0
        while not isinstance(event := self._next(), yaml.StreamEndEvent):
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            documents += 1
            if event.version not in (None, (1, 2)):
                self._add("EVA-101", "the file wants to be read as another YAML than 1.2", self._place(event))
            if documents > 1:
                self._stop("EVA-109", "a second document starts here", self._place(event))
            node = self._node(self._next(), 1)
        return node

    def _node(self, event: Any, depth: int) -> Node:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._stop("EVA-108", f"the file holds more than {MAX_NODES:,} values", self._place(event))
        if depth > MAX_DEPTH:
            self._stop("EVA-108", f"values are nested deeper than {MAX_DEPTH} levels", self._place(event))
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if event.anchor is not None:
            self._add("EVA-105", "an anchor is not allowed", self._place(event))
        if event.tag is not None:
            self._add("EVA-106", "a tag is not allowed", self._place(event))
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        return (
            self._mapping(event, depth) if isinstance(event, yaml.MappingStartEvent) else self._sequence(event, depth)
        )

    def _alias(self, event: Any) -> Node:
        where = self._place(event)
        self._add("EVA-105", "an alias is not allowed", where)
        return Node(None, self._file, where, Style.PLAIN)

    def _mapping(self, start: Any, depth: int) -> Node:
        value: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        last: Any = start
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            child = self._node(self._next(), depth + 1)
            last = child
            if not isinstance(key.value, str):
                self._add("EVA-107", "a key must be text" + _quoted_hint(key), key.place)
            elif key.value in keys:
                self._duplicate(key, keys[key.value])
            else:
                value[key.value], keys[key.value] = child, key.place
        return Node(value, self._file, self._around(start, event, last), keys=keys)

    def _sequence(self, start: Any, depth: int) -> Node:
        value: list[Node] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            value.append(self._node(event, depth + 1))
        return Node(value, self._file, self._around(start, event, value[-1] if value else start))

    def _scalar(self, event: Any) -> Node:
        text: str = event.value
        style = _STYLES[event.style]
        value: Scalar = text
        where = self._place(event) if style is Style.BLOCK or not text else _marked(event)
        if style is Style.PLAIN and not self._all_text:
            try:
                value = resolve(text)
            except UnfitNumber:
                self._add("EVA-110", "a number is too large or not finite", where)
        return Node(value, self._file, where, style, text)

    def _around(self, start: Any, end: Any, last: Any) -> Place:
        """A block collection ends with its last value: libyaml's own end is the next token, lines further down."""
        opening = self._place(start)
        if start.flow_style or last is start:
            return self._lines.place(start.start_mark.index, end.end_mark.index)
        return Place(opening.line, opening.column, last.place.end_line, last.place.end_column)

    def _place(self, event: Any) -> Place:
        return self._lines.place(event.start_mark.index, event.end_mark.index)

    def _duplicate(self, key: Node, first: Place) -> None:
        name = clean_line(key.text, 80)
        self._add(
            "EVA-104",
            f"the key {name!r} is given twice, first in line {first.line}",
            key.place,
            first.span(self._file, "first given here", primary=False),
        )

    def _syntax(self, error: yaml.YAMLError) -> None:
        marks = [(getattr(error, name + "_mark", None), getattr(error, name, None)) for name in ("problem", "context")]
        places = {mark.index: clean_line(text or "", 120) for mark, text in reversed(marks) if mark is not None}
        found = [*reversed(places.items())]
        if len(found) == 2 and found[0][0] >= len(self._lines.text.rstrip()):
            found.reverse()  # what was never closed is noticed at the end of the file, but is wrong where it starts
        primary, *others = [(self._lines.place(at, at), label) for at, label in found or [(0, "")]]
        message = ": ".join(clean_line(text, 120) for _, text in reversed(marks) if text)
        if found and self._lines.text.startswith("\t", found[0][0]):
            message = "a tab cannot stand here: YAML is indented with spaces"
        elif found and _is_second_colon(self._lines.text, found[0][0]):
            message = "a text with a colon and a space in it must stand in quotes"
        notices = [where.span(self._file, label, primary=False) for where, label in others]
        self._add("EVA-101", message or "the YAML cannot be parsed", primary[0], *notices)

    def _stop(self, code: str, message: str, where: Place) -> None:
        self._problems.append(reading_diagnostic(code, message, where.span(self._file)))
        raise _TooMuch

    def _add(self, code: str, message: str, where: Place, *others: Span) -> None:
        self._problems.append(reading_diagnostic(code, message, where.span(self._file), *others))
        if len(self._problems) >= _MAX_DIAGNOSTICS:
            raise _TooMuch


_STYLES = {
    None: Style.PLAIN,
    "": Style.PLAIN,
    "'": Style.QUOTED,
    '"': Style.QUOTED,
    "|": Style.BLOCK,
    ">": Style.BLOCK,
}


def _marked(event: Any) -> Place:
    """As libyaml has it: right for what ends with its last character. Line breaks it alone knows are refused before."""
    start, end = event.start_mark, event.end_mark
    return Place(start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _is_second_colon(text: str, at: int) -> bool:
    """As in ``description: Use when: it rains``, which libyaml takes for a key within a value."""
    return text.startswith(":", at) and ": " in text[text.rfind("\n", 0, at) + 1 : at]


class _TooMuch(Exception):
    """The problems found so far are enough; the rest of the file is not read."""


def _quoted_hint(key: Node) -> str:
    return f'; write "{clean_line(key.text, 40)}"' if key.style is Style.PLAIN else ""
