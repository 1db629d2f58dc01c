"""Rules for lists and mappings, and the fields of which a file's format is made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.admission.report import Fault, Pointer, Report, nearest
from evatui.kernel.admission.rules import INVALID, Rule, dotted, inside, quoted, wrong_type
from evatui.kernel.model.ids import fold
from evatui.kernel.workspace.yaml import Style

__all__ = ["Field", "ListOf", "MapOf", "Record"]

_UNSET: Any = object()


@dataclass(frozen=True, slots=True)
class ListOf:
    """``star``: the text ``"*"`` alone stands for the list of it. ``whole``: with a wrong item there is no list.

    ``folded``: texts that differ in case only are the same.
    """

    item: Rule
    shortest: int = 0
    star: bool = False
    longest: int = 1_000
    whole: bool = False
    folded: bool = False

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if self.star and value == "*":
            return ["*"]
        if not isinstance(value, list):
            text = isinstance(value, str) and value and report.written(at).style is not Style.BLOCK
            label = f"write [{report.shown(at)}]" if text else ""
            return wrong_type(at, report, "a list", label, f"[{json.dumps(value)}]" if text else None)
        if not self.shortest <= len(value) <= self.longest:
            wanted = f"at least {self.shortest}" if len(value) < self.shortest else f"at most {self.longest}"
            report.fault(Fault.FORM, f"{dotted(at)} wants {wanted} item{'s' * (wanted[-2:] != ' 1')}", at)
            return INVALID
        return self._items(value, at, report)

    def _items(self, written: Sequence[Any], at: Pointer, report: Report) -> Any:
        values: list[Any] = []
        seen: list[Any] = []
        broken = False
        for index, child in enumerate(written):
            value = self.item.read(child, (*at, index), report)
            if value is INVALID:
                broken = self.whole
                continue
            form = fold(value) if self.folded else value
            if form in seen:
                report.fault(Fault.TWICE, f"{dotted(at)} names {report.shown((*at, index))} twice", (*at, index))
            else:
                values.append(value)
                seen.append(form)
        return INVALID if broken else values

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

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if not isinstance(value, dict):
            return wrong_type(at, report, "a mapping")
        if len(value) > self.longest:
            report.fault(Fault.FORM, f"{dotted(at)} wants at most {self.longest} keys", at)
            return INVALID
        values = {}
        for name, child in value.items():
            if not self.key.fullmatch(name):
                report.fault(Fault.FORM, f"{dotted(at)}: {quoted(name)} is not {self.what}", (*at, name), key=True)
            found = self.value.read(child, (*at, name), report)
            if found is not INVALID:
                values[name] = found
        return values

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "propertyNames": {"pattern": f"^(?:{self.key.pattern})$"},
            "additionalProperties": self.value.schema(),
            "maxProperties": self.longest,
        }


@dataclass(frozen=True, slots=True)
class Field:
    """``default`` is the value where the key is absent; a record's own defaults where it is not given.

    ``pool`` says how the values of several files become one. A field that has it stays absent where it is
    absent, so that only what is written is pooled; `Record.complete` fills in the defaults afterwards.
    ``meet`` says what of two complete values both allow, where that is not what ``pool`` gives.
    """

    rule: Rule
    about: str
    default: Any = _UNSET
    required: bool = False
    missing: Fault = Fault.MISSING
    pool: Callable[[Any, Any], Any] | None = None
    meet: Callable[[Any, Any], Any] | None = None
    fallback: Any = field(init=False, repr=False, compare=False)
    """Shared by everything that was read: it stays as it is."""
    absent: Any = field(init=False, repr=False, compare=False)
    """What a value that was read holds where the key is absent."""

    def __post_init__(self) -> None:
        own = self.rule.complete({}) if isinstance(self.rule, Record) else INVALID
        object.__setattr__(self, "fallback", own if self.default is _UNSET else self.default)
        object.__setattr__(self, "absent", self.fallback if self.pool is None else INVALID)

    def schema(self) -> dict[str, Any]:
        found = {"description": self.about, **self.rule.schema()}
        return found if self.fallback is INVALID else {**found, "default": self.fallback}


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with known keys. ``check`` sees the finished value for rules that span several keys."""

    fields: Mapping[str, Field]
    check: Callable[[dict[str, Any], Pointer, Report], None] | None = None
    _absent: Mapping[str, Any] = field(init=False, repr=False, compare=False)
    _required: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _open: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Those that are left out of the value where they are absent."""

    def __post_init__(self) -> None:
        required = tuple(name for name, entry in self.fields.items() if entry.required)
        object.__setattr__(self, "_required", required)
        absent = {name: entry.absent for name, entry in self.fields.items()}
        object.__setattr__(self, "_absent", absent)
        object.__setattr__(self, "_open", tuple(name for name, value in absent.items() if value is INVALID))

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if not isinstance(value, dict):
            return wrong_type(at, report, "a mapping")
        values = dict(self._absent)
        for name, written in value.items():
            entry = self.fields.get(name)
            if entry is None:
                self._unknown(name, value, at, report)
            elif written is None and entry.required:
                report.fault(entry.missing, f"{quoted(name)} has no value{inside(at)}", (*at, name), key=True)
            else:
                found = entry.rule.read(written, (*at, name), report)
                if found is not INVALID:
                    values[name] = found
        for name in self._required:
            if name not in value:
                report.fault(self.fields[name].missing, f"{quoted(name)} is missing{inside(at)}", at, key=True)
        for name in self._open:
            if values[name] is INVALID:
                del values[name]
        if self.check:
            self.check(values, at, report)
        return values

    def _unknown(self, name: str, written: Mapping[str, Any], at: Pointer, report: Report) -> None:
        near = nearest(name, self.fields)
        label = f"did you mean {near}?" if near else ""
        notes = () if near else (self._hint(name, at),)
        fix = f"Write {near}, or remove the key." if near else None
        report.fault(
            Fault.UNKNOWN_KEY,
            f"unknown key {quoted(name)}",
            (*at, name),
            key=True,
            label=label,
            instead=near if near not in written else None,
            notes=notes,
            fix=fix,
        )

    def _hint(self, name: str, at: Pointer) -> str:
        for outer, entry in self.fields.items():
            if isinstance(entry.rule, Record) and name in entry.rule.fields:
                return f"{name} belongs under {dotted((*at, outer))}"
        return f"known keys{inside(at)}: {', '.join(self.fields)}"

    def complete(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """``values`` with the defaults of everything that they leave out, at every depth."""
        found: dict[str, Any] = {}
        for name, entry in self.fields.items():
            if name not in values:
                found[name] = entry.fallback
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

    def met(self, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
        """What two complete values both allow."""
        found: dict[str, Any] = {}
        for name, entry in self.fields.items():
            common = entry.rule.met if isinstance(entry.rule, Record) else entry.meet or entry.pool
            found[name] = common(mine[name], theirs[name]) if common else mine[name]
        return found

    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "type": "object",
            "properties": {name: entry.schema() for name, entry in self.fields.items()},
            "additionalProperties": False,
        }
        return {**found, "required": list(self._required)} if self._required else found
