"""Problems collected while one file is read: all at once, each with its place."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum, auto
from typing import Any, Protocol

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.redact import hide, looks_secret
from evatui.kernel.model.diagnostic import Diagnostic, Edit, Level, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.yaml import Node, Style, key_place, place

__all__ = [
    "ADAPTER_FAULTS",
    "EXAMPLE_FAULTS",
    "MANIFEST_FAULTS",
    "PLUGIN_FAULTS",
    "POLICY_FAULTS",
    "Document",
    "Fault",
    "Pointer",
    "Report",
    "nearest",
]

Pointer = tuple[str | int, ...]
_MAX_PROBLEMS = 50


class Fault(Enum):
    """What can be wrong with a value, whatever the file."""

    NO_MAPPING = auto()
    MISSING = auto()
    SCHEMA_MISSING = auto()
    TYPE = auto()
    UNKNOWN_KEY = auto()
    UNQUOTED = auto()
    QUOTED = auto()
    FORM = auto()
    CHOICE = auto()
    MISPLACED = auto()
    PATH = auto()
    TWICE = auto()
    RUNTIME_WORKER = auto()
    ASKS_ALL = auto()


MANIFEST_FAULTS: Mapping[Fault, str] = {
    Fault.NO_MAPPING: "EVA-201",
    Fault.MISSING: "EVA-202",
    Fault.SCHEMA_MISSING: "EVA-301",
    Fault.TYPE: "EVA-203",
    Fault.UNKNOWN_KEY: "EVA-204",
    Fault.UNQUOTED: "EVA-205",
    Fault.QUOTED: "EVA-206",
    Fault.FORM: "EVA-207",
    Fault.CHOICE: "EVA-208",
    Fault.MISPLACED: "EVA-209",
    Fault.PATH: "EVA-210",
    Fault.TWICE: "EVA-211",
    Fault.RUNTIME_WORKER: "EVA-212",
    Fault.ASKS_ALL: "EVA-417",
}
ADAPTER_FAULTS: Mapping[Fault, str] = dict.fromkeys(Fault, "EVA-703") | {Fault.UNKNOWN_KEY: "EVA-702"}
EXAMPLE_FAULTS: Mapping[Fault, str] = dict.fromkeys(Fault, "EVA-601")
POLICY_FAULTS: Mapping[Fault, str] = dict.fromkeys(Fault, "EVA-403") | {Fault.UNKNOWN_KEY: "EVA-402"}


PLUGIN_FAULTS: Mapping[Fault, str] = dict.fromkeys(Fault, "EVA-833") | {Fault.UNKNOWN_KEY: "EVA-832"}


class Document(Protocol):
    """A file that can be read, YAML or JSON: what it says, and where."""

    @property
    def data(self) -> bytes: ...

    @property
    def file(self) -> str: ...

    @property
    def value(self) -> Any: ...

    @property
    def tree(self) -> Node: ...


class Report:
    """What is wrong with ``document``; ``faults`` says which code each kind of fault has in this file."""

    def __init__(self, document: Document, faults: Mapping[Fault, str]) -> None:
        self.document = document
        self._value = document.value
        self._faults = faults
        self._found: list[Diagnostic] = []

    @property
    def found(self) -> tuple[Diagnostic, ...]:
        """In the order of the file."""
        return tuple(sorted(self._found, key=_line)) if self._found else ()

    @property
    def failed(self) -> bool:
        return any(diagnostic.level is Level.ERROR for diagnostic in self._found)

    def fault(
        self,
        fault: Fault,
        message: str,
        at: Pointer,
        *,
        key: bool = False,
        label: str = "",
        instead: str | None = None,
        **more: Any,
    ) -> None:
        """Something wrong with the value at ``at``, or with its key; ``instead`` is what surely should stand there.

        A value that goes over several lines is never replaced: probably it was meant to be several.
        """
        span = self.span(at, key=key, label=label)
        told = span.line == span.end_line and not any(isinstance(step, str) and looks_secret(step) for step in at)
        edits = (Edit(replace(span, label=""), instead),) if instead is not None and told else ()
        self.add(self._faults[fault], message, span, edits=edits, **more)

    def add(self, code: str, message: str, *spans: Span, edits: tuple[Edit, ...] = (), **more: Any) -> None:
        if len(self._found) < _MAX_PROBLEMS:
            self._found.append(replace(diagnose(code, message, *spans, **more), edits=edits))

    def value(self, at: Pointer) -> Any:
        """What the file says at ``at``; None where it says nothing, too."""
        found = self._value
        for step in at:
            if isinstance(found, dict):
                found = found.get(str(step))
            elif isinstance(found, list) and isinstance(step, int) and step < len(found):
                found = found[step]
            else:
                return None
        return found

    def node(self, at: Pointer) -> Node | None:
        """How it is written there, if anything is."""
        return _follow(self.document.tree, at)

    def written(self, at: Pointer) -> Node:
        """The same where something is."""
        node = self.node(at)
        assert node is not None
        return node

    def shown(self, at: Pointer) -> str:
        """The value as it may stand in a message: short, clean, and not at all under a key that looks secret."""
        if any(isinstance(step, str) and looks_secret(step) for step in at):
            return "this value"
        return _shown(self.written(at))

    def item(self, at: Pointer, entry: Any) -> Pointer:
        """The place of an entry within the list at ``at``; the list's own where it stands for itself.

        Never count on an entry's index in a value that was read: what was wrong is left out there.
        """
        written = list(entry) if isinstance(entry, tuple) else entry
        items = self.value(at)
        found = enumerate(items if isinstance(items, list) else ())
        return next(((*at, index) for index, child in found if child == written), at)

    def span(self, at: Pointer, *, key: bool = False, label: str = "") -> Span:
        """Where the value (or the key) at ``at`` stands; what is not there is placed at what it belongs in."""
        while at and self.node(at) is None:
            at, key = at[:-1], key or self._is_collection(at[:-1])
        where = (key_place if key else place)(self.document.tree, at)
        if not at:
            return Span(where.file, where.line, where.column, where.line, where.column + 1, label)
        return replace(where, label=label)

    def _is_collection(self, at: Pointer) -> bool:
        node = self.node(at)
        return node is not None and node.style is Style.COLLECTION


def _follow(node: Node, at: Pointer) -> Node | None:
    found: Node | None = node
    for step in at:
        value = found.value if found is not None else None
        if isinstance(value, dict):
            found = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            found = value[step]
        else:
            return None
    return found


def _shown(node: Node) -> str:
    match node.value:
        case None:
            return "nothing"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case str(text):
            return '"' + clean_line(hide([text.replace("\n", "⏎")], 1), 60) + '"'
        case _:
            return clean_line(node.text, 60)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that ``word`` was probably meant to be."""
    by_fold = {name.casefold().replace("-", "_"): name for name in known}
    close = difflib.get_close_matches(word.casefold().replace("-", "_"), by_fold, n=1, cutoff=0.6)
    return by_fold[close[0]] if close else None


def _line(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.primary
    return (span.line, span.column) if span else (0, 0)
