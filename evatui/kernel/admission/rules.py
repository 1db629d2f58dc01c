"""Rules for values in YAML files: a rule reads a node into a plain value, and describes itself as JSON Schema.

The whole of a file's format is one table of rules. ``read`` reports everything wrong below a node and
returns the value with every default filled in, or `INVALID` where there is no value to go on with.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from evatui.kernel.admission.report import Fault, Pointer, Report, nearest, shown
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.yaml import Node, Style, plain

__all__ = [
    "INVALID",
    "Choice",
    "Field",
    "Flag",
    "Free",
    "Integer",
    "ListOf",
    "MapOf",
    "Nullable",
    "Number",
    "Record",
    "Rule",
    "Text",
]


class _Invalid(Enum):
    INVALID = "invalid"


INVALID = _Invalid.INVALID
_UNSET: Any = object()
_MAX_INTEGER = 2**53 - 1
"""Whole numbers up to here mean the same in YAML, JSON and Lua."""


class Rule(Protocol):
    def read(self, node: Node, at: Pointer, report: Report) -> Any: ...

    def schema(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Text:
    """``form`` must match all of the text; ``what`` names it in messages."""

    what: str = "text"
    form: re.Pattern[str] | None = None
    longest: int = 4_000
    empty: bool = False

    def read(self, node: Node, at: Pointer, report: Report) -> Any:
        value = node.value
        if isinstance(value, bool | int | float):
            kind = "boolean" if isinstance(value, bool) else "number"
            message = f"{_name(at)} wants {self.what}, but {shown(node, at)} is a {kind}"
            report.fault(Fault.UNQUOTED, message, at, label=f'quote it: "{shown(node, at)}"')
            return INVALID
        if not isinstance(value, str):
            return _wrong_type(node, at, report, self.what)
        if (self.form and not self.form.fullmatch(value)) or len(value) > self.longest or not (value or self.empty):
            message = f"{_name(at)}: {shown(node, at)} is not {self.what}"
            if len(value) > self.longest:
                message = f"{_name(at)} has {len(value):,} characters; at most {self.longest:,} are allowed"
            report.fault(Fault.FORM, message, at)
            return INVALID
        return value

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

    def read(self, node: Node, at: Pointer, report: Report) -> Any:
        value = node.value
        if isinstance(value, float):
            report.fault(Fault.TYPE, f"{_name(at)} wants a whole number, but {shown(node, at)} is not one", at)
            return INVALID
        if isinstance(value, bool) or not isinstance(value, int):
            return _not_a_number(node, at, report, "a whole number")
        return _in_range(value, self.low, self.high, node, at, report)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Number:
    low: float
    high: float

    def read(self, node: Node, at: Pointer, report: Report) -> Any:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return _not_a_number(node, at, report, "a number")
        return _in_range(value, self.low, self.high, node, at, report)

    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Flag:
    def read(self, node: Node, at: Pointer, report: Report) -> Any:
        if isinstance(node.value, bool):
            return node.value
        if isinstance(node.value, str) and node.style is Style.QUOTED and node.text in ("true", "false"):
            message = f"{_name(at)} wants true or false, but {shown(node, at)} is text"
            report.fault(Fault.QUOTED, message, at, label="remove the quotes")
            return INVALID
        words = {"yes": "true", "on": "true", "no": "false", "off": "false"}
        meant = words.get(node.text.lower()) if isinstance(node.value, str) else None
        label = f"write {meant}" if meant else ""
        return _wrong_type(node, at, report, "true or false", label)

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Choice:
    words: tuple[str, ...]

    def read(self, node: Node, at: Pointer, report: Report) -> Any:
        if not isinstance(node.value, str):
            return Text(f"one of {', '.join(self.words)}").read(node, at, report)
        if node.value not in self.words:
            near = nearest(node.value, self.words)
            message = f"{_name(at)}: {shown(node, at)} is not one of {', '.join(self.words)}"
            report.fault(Fault.CHOICE, message, at, label=f"did you mean {near}?" if near else "")
            return INVALID
        return node.value

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class ListOf:
    """``star``: the text ``"*"`` alone stands for the list of it."""

    item: Rule
    shortest: int = 0
    star: bool = False
    longest: int = 1_000

    def read(self, node: Node, at: Pointer, report: Report) -> Any:
        if self.star and node.value == "*":
            return ["*"]
        if not isinstance(node.value, list):
            label = f"write [{shown(node, at)}]" if isinstance(node.value, str) and node.value else ""
            return _wrong_type(node, at, report, "a list", label)
        if not self.shortest <= len(node.value) <= self.longest:
            wanted = f"at least {self.shortest}" if len(node.value) < self.shortest else f"at most {self.longest}"
            report.fault(Fault.FORM, f"{_name(at)} wants {wanted} item{'s' * (wanted[-2:] != ' 1')}", at)
            return INVALID
        return self._items(node.value, at, report)

    def _items(self, nodes: Sequence[Node], at: Pointer, report: Report) -> list[Any]:
        values: list[Any] = []
        for index, child in enumerate(nodes):
            value = self.item.read(child, (*at, index), report)
            if value is INVALID:
                continue
            if value in values:
                report.fault(Fault.TWICE, f"{_name(at)} names {shown(child, at)} twice", (*at, index))
            else:
                values.append(value)
        return values

    def schema(self) -> dict[str, Any]:
        found = {"type": "array", "items": self.item.schema(), "uniqueItems": True, "maxItems": self.longest}
        if self.shortest:
            found["minItems"] = self.shortest
        return {"anyOf": [{"const": "*"}, found]} if self.star else found


@dataclass(frozen=True, slots=True)
class MapOf:
    """Any keys of one form, each with a value by one rule."""

    key: re.Pattern[str]
    what: str
    value: Rule
    longest: int = 200

    def read(self, node: Node, at: Pointer, report: Report) -> Any:
        if not isinstance(node.value, dict):
            return _wrong_type(node, at, report, "a mapping")
        if len(node.value) > self.longest:
            report.fault(Fault.FORM, f"{_name(at)} wants at most {self.longest} keys", at)
            return INVALID
        values = {}
        for name, child in node.value.items():
            if not self.key.fullmatch(name):
                report.fault(Fault.FORM, f"{_name(at)}: {_quote(name)} is not {self.what}", (*at, name), key=True)
            value = self.value.read(child, (*at, name), report)
            if value is not INVALID:
                values[name] = value
        return values

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "propertyNames": {"pattern": f"^(?:{self.key.pattern})$"},
            "additionalProperties": self.value.schema(),
            "maxProperties": self.longest,
        }


@dataclass(frozen=True, slots=True)
class Nullable:
    rule: Rule

    def read(self, node: Node, at: Pointer, report: Report) -> Any:
        return None if node.value is None else self.rule.read(node, at, report)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "null"}, self.rule.schema()]}


@dataclass(frozen=True, slots=True)
class Free:
    """Any mapping."""

    def read(self, node: Node, at: Pointer, report: Report) -> Any:
        return plain(node) if isinstance(node.value, dict) else _wrong_type(node, at, report, "a mapping")

    def schema(self) -> dict[str, Any]:
        return {"type": "object"}


@dataclass(frozen=True, slots=True)
class Field:
    """``default`` is the value where the key is absent; a record's own defaults where it is not given.

    ``pool`` says how the values of several files become one. A field that has it stays absent where it is
    absent, so that only what is written is pooled; `Record.complete` fills in the defaults afterwards.
    """

    rule: Rule
    about: str
    default: Any = _UNSET
    required: bool = False
    missing: Fault = Fault.MISSING
    pool: Callable[[Any, Any], Any] | None = None

    def fallback(self) -> Any:
        if self.default is not _UNSET:
            return copy.deepcopy(self.default)
        return self.rule.complete({}) if isinstance(self.rule, Record) else INVALID

    def absent(self) -> Any:
        return self.fallback() if self.pool is None else INVALID

    def schema(self) -> dict[str, Any]:
        found = {"description": self.about, **self.rule.schema()}
        return found if self.fallback() is INVALID else {**found, "default": self.fallback()}


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with known keys. ``check`` sees the finished value for rules that span several keys."""

    fields: Mapping[str, Field]
    check: Callable[[dict[str, Any], Pointer, Report], None] | None = field(default=None)

    def read(self, node: Node, at: Pointer, report: Report) -> Any:
        if not isinstance(node.value, dict):
            return _wrong_type(node, at, report, "a mapping")
        for name in node.value:
            if name not in self.fields:
                self._unknown(name, at, report)
        values: dict[str, Any] = {}
        for name, entry in self.fields.items():
            value = self._value(name, entry, node.value.get(name), at, report)
            if value is not INVALID:
                values[name] = value
        if self.check:
            self.check(values, at, report)
        return values

    def _value(self, name: str, entry: Field, node: Node | None, at: Pointer, report: Report) -> Any:
        if node is None:
            if entry.required:
                report.fault(entry.missing, f"{_quote(name)} is missing{_inside(at)}", at, key=True)
            return entry.absent()
        value = entry.rule.read(node, (*at, name), report)
        return entry.absent() if value is INVALID else value

    def _unknown(self, name: str, at: Pointer, report: Report) -> None:
        near = nearest(name, self.fields)
        label = f"did you mean {near}?" if near else ""
        notes = () if near else (f"known keys{_inside(at)}: {', '.join(self.fields)}",)
        fix = f"Write {near}, or remove the key." if near else None
        report.fault(
            Fault.UNKNOWN_KEY, f"unknown key {_quote(name)}", (*at, name), key=True, label=label, notes=notes, fix=fix
        )

    def complete(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """``values`` with the defaults of everything that they leave out, at every depth."""
        found: dict[str, Any] = {}
        for name, entry in self.fields.items():
            if name not in values:
                found[name] = entry.fallback()
            else:
                value = values[name]
                found[name] = entry.rule.complete(value) if isinstance(entry.rule, Record) else value
        return {name: value for name, value in found.items() if value is not INVALID}

    def pooled(self, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
        """The values of two files as one; what only one of them says stands."""
        found = {**theirs, **mine}
        for name in mine.keys() & theirs.keys():
            entry = self.fields[name]
            if isinstance(entry.rule, Record):
                found[name] = entry.rule.pooled(mine[name], theirs[name])
            elif entry.pool:
                found[name] = entry.pool(mine[name], theirs[name])
        return found

    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "type": "object",
            "properties": {name: entry.schema() for name, entry in self.fields.items()},
            "additionalProperties": False,
        }
        required = [name for name, entry in self.fields.items() if entry.required]
        return {**found, "required": required} if required else found


def _wrong_type(node: Node, at: Pointer, report: Report, wanted: str, label: str = "") -> Any:
    report.fault(Fault.TYPE, f"{_name(at)} wants {wanted}, found {shown(node, at)}", at, label=label)
    return INVALID


def _not_a_number(node: Node, at: Pointer, report: Report, wanted: str) -> Any:
    if isinstance(node.value, str) and re.fullmatch(r"[-+]?[0-9]+(\.[0-9]+)?", node.text, re.ASCII):
        message = f"{_name(at)} wants {wanted}, but {shown(node, at)} is text"
        report.fault(Fault.QUOTED, message, at, label="remove the quotes")
        return INVALID
    return _wrong_type(node, at, report, wanted)


def _in_range(value: float, low: float, high: float, node: Node, at: Pointer, report: Report) -> Any:
    if low <= value <= high:
        return value
    bounds = f"at least {low}" if high == _MAX_INTEGER and value < low else f"between {low} and {high}"
    report.fault(Fault.FORM, f"{_name(at)} is {shown(node, at)}; it must be {bounds}", at)
    return INVALID


def _name(at: Pointer) -> str:
    """The dotted path to a value, as a message begins with it."""
    path = ""
    for step in at:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return _clean(path) if path else "the file"


def _inside(at: Pointer) -> str:
    return f" in {_name(at)}" if at else ""


def _quote(name: str) -> str:
    return f'"{_clean(name)}"'


def _clean(text: str) -> str:
    return clean_line(text, 120)
