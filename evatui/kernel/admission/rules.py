"""Rules for single values in YAML files: a rule reads a value as it is written, and describes itself as JSON Schema.

The whole of a file's format is one table of rules (`records`). ``read`` reports everything wrong in a value that
stands at a place, and returns it with every default filled in, or `INVALID` where there is nothing to go on with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from evatui.kernel.admission.report import Fault, Pointer, Report, nearest
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.yaml import Style

__all__ = [
    "INVALID",
    "Anything",
    "Choice",
    "Flag",
    "Free",
    "Integer",
    "Nullable",
    "Number",
    "Rule",
    "Text",
    "dotted",
    "inside",
    "quoted",
    "wrong_type",
]


class _Invalid(Enum):
    INVALID = "invalid"


INVALID = _Invalid.INVALID
_MAX_INTEGER = 2**53 - 1
"""Whole numbers up to here mean the same in YAML, JSON and Lua."""


class Rule(Protocol):
    def read(self, value: Any, at: Pointer, report: Report) -> Any: ...

    def schema(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Text:
    """``form`` must match all of the text; ``what`` names it in messages."""

    what: str = "text"
    form: re.Pattern[str] | None = None
    longest: int = 4_000
    empty: bool = False
    endings: tuple[str, ...] = ()
    """What may be missing at the end of what was written as a number."""

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if not isinstance(value, str):
            return self._no_text(value, at, report)
        if (self.form and not self.form.fullmatch(value)) or len(value) > self.longest or not (value or self.empty):
            message = f"{dotted(at)}: {report.shown(at)} is not {self.what}"
            if len(value) > self.longest:
                message = f"{dotted(at)} has {len(value):,} characters; at most {self.longest:,} are allowed"
            report.fault(Fault.FORM, message, at)
            return INVALID
        return value

    def _no_text(self, value: Any, at: Pointer, report: Report) -> Any:
        if value is None or isinstance(value, list | dict):
            return wrong_type(at, report, self.what)
        kind = "boolean" if isinstance(value, bool) else "number"
        shown, text = report.shown(at), report.written(at).text
        message = f"{dotted(at)} wants {self.what}, but {shown} is a {kind}"
        if self.form is None or self.form.fullmatch(text):
            report.fault(Fault.UNQUOTED, message, at, label=f'quote it: "{shown}"', instead=f'"{text}"')
            return INVALID
        whole = next((text + ending for ending in self.endings if self.form.fullmatch(text + ending)), None)
        label = f"write {whole}" if whole else ""
        fix = f"Write {self.what}; in quotes it would be none either."
        report.fault(Fault.UNQUOTED, message, at, label=label, instead=whole, fix=fix)
        return INVALID

    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": "string", "maxLength": self.longest}
        if self.form:
            found["pattern"] = f"^(?:{self.form.pattern})$"
        elif not self.empty:
            found["minLength"] = 1
        return found


@dataclass(frozen=True, slots=True)
class Integer:
    low: int = 1
    high: int = _MAX_INTEGER

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if isinstance(value, float):
            report.fault(Fault.TYPE, f"{dotted(at)} wants a whole number, but {report.shown(at)} is not one", at)
            return INVALID
        if isinstance(value, bool) or not isinstance(value, int):
            return _not_a_number(value, at, report, "a whole number")
        return _in_range(value, self.low, self.high, at, report)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Number:
    low: float
    high: float

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return _not_a_number(value, at, report, "a number")
        return _in_range(value, self.low, self.high, at, report)

    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Flag:
    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if isinstance(value, bool):
            return value
        if value in ("true", "false") and report.written(at).style is Style.QUOTED:
            message = f"{dotted(at)} wants true or false, but {report.shown(at)} is text"
            report.fault(Fault.QUOTED, message, at, label="remove the quotes", instead=value)
            return INVALID
        words = {"yes": "true", "on": "true", "no": "false", "off": "false"}
        meant = words.get(value.lower()) if isinstance(value, str) else None
        label = f"write {meant}" if meant else ""
        return wrong_type(at, report, "true or false", label, meant)

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Choice:
    words: tuple[str, ...]

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if not isinstance(value, str):
            return Text(f"one of {', '.join(self.words)}").read(value, at, report)
        if value not in self.words:
            near = nearest(value, self.words)
            message = f"{dotted(at)}: {report.shown(at)} is not one of {', '.join(self.words)}"
            report.fault(Fault.CHOICE, message, at, label=f"did you mean {near}?" if near else "", instead=near)
            return INVALID
        return value

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Nullable:
    rule: Rule

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        return None if value is None else self.rule.read(value, at, report)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "null"}, self.rule.schema()]}


@dataclass(frozen=True, slots=True)
class Free:
    """Any mapping."""

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        return value if isinstance(value, dict) else wrong_type(at, report, "a mapping")

    def schema(self) -> dict[str, Any]:
        return {"type": "object"}


@dataclass(frozen=True, slots=True)
class Anything:
    """Any value that JSON can hold."""

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        return value

    def schema(self) -> dict[str, Any]:
        return {}


def wrong_type(at: Pointer, report: Report, wanted: str, label: str = "", instead: str | None = None) -> Any:
    message = f"{dotted(at)} wants {wanted}, found {report.shown(at)}"
    report.fault(Fault.TYPE, message, at, label=label, instead=instead)
    return INVALID


def _not_a_number(value: Any, at: Pointer, report: Report, wanted: str) -> Any:
    if isinstance(value, str) and re.fullmatch(r"[-+]?[0-9]+(\.[0-9]+)?", value, re.ASCII):
        message = f"{dotted(at)} wants {wanted}, but {report.shown(at)} is text"
        report.fault(Fault.QUOTED, message, at, label="remove the quotes", instead=value)
        return INVALID
    return wrong_type(at, report, wanted)


def _in_range(value: float, low: float, high: float, at: Pointer, report: Report) -> Any:
    if low <= value <= high:
        return value
    bounds = f"at least {low}" if high == _MAX_INTEGER and value < low else f"between {low} and {high}"
    report.fault(Fault.FORM, f"{dotted(at)} is {report.shown(at)}; it must be {bounds}", at)
    return INVALID


def dotted(at: Pointer) -> str:
    """The dotted path to a value, as a message begins with it."""
    path = ""
    for step in at:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return _clean(path) if path else "the file"


def inside(at: Pointer) -> str:
    return f" in {dotted(at)}" if at else ""


def quoted(name: str) -> str:
    return f'"{_clean(name)}"'


def _clean(text: str) -> str:
    return clean_line(text, 120)
