"""From what stands in the fields to a payload, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evatui.console.view.form.field import ABSENT, Entry, Field, Kind, is_line
from evatui.console.view.form.plan import Form
from evatui.console.view.payload import NotJson, read_json

__all__ = ["Entries", "entries_of", "first_entries", "first_entry", "payload_of", "problem_of", "shown_fields"]

Entries = Mapping[tuple[str, ...], Entry]
"""What stands in each field, by its path; what is not there is absent."""


def first_entries(form: Form) -> dict[tuple[str, ...], Entry]:
    """The defaults, filled in; all else absent."""
    return {field.path: first_entry(field) for field in form.fields if field.default is not ABSENT}


def first_entry(field: Field) -> Entry:
    return ABSENT if field.default is ABSENT else _entry(field, field.default)


def shown_fields(form: Form, entries: Entries) -> list[Field]:
    """Those of the alternatives that are chosen, each path once."""
    shown: dict[tuple[str, ...], Field] = {}
    for field in form.fields:
        if all(entries.get(path, ABSENT) == value for path, value in field.when):
            shown.setdefault(field.path, field)
    return list(shown.values())


def problem_of(field: Field, entry: Entry) -> str:
    """Why no value can be made of what was typed; empty where one can."""
    if field.kind is Kind.LIST and isinstance(entry, tuple):
        return next((f"line {at}: {why}" for at, one in enumerate(entry, 1) if (why := _unfit(field.item, one))), "")
    return _unfit(field.kind, entry) if isinstance(entry, str) else ""


def payload_of(form: Form, entries: Entries) -> dict[str, Any] | str:
    """The payload, or the first field that nothing can be made of, and why."""
    payload: dict[str, Any] = {}
    for field in shown_fields(form, entries):
        entry = entries.get(field.path, ABSENT)
        if entry is ABSENT:
            continue
        if why := problem_of(field, entry):
            return f"{field.label}: {why}"
        _put(payload, field.path, _value(field, entry))
    return payload


def entries_of(form: Form, payload: Mapping[str, Any]) -> dict[tuple[str, ...], Entry] | str:
    """The entries that make just this payload again, or what no field can hold."""
    entries: dict[tuple[str, ...], Entry] = {}
    for field in form.fields:
        found = _find(payload, field.path)
        if found is not ABSENT and field.path not in entries and _holds(field, found):
            entries[field.path] = _entry(field, found)
    if payload_of(form, entries) == dict(payload):
        return entries
    known = {field.path[0] for field in form.fields}
    strange = next((str(name) for name in payload if name not in known), "")
    return f"no field holds {strange}" if strange else "no form holds these values"


def _unfit(kind: Kind, text: str) -> str:
    if kind is Kind.INTEGER:
        return "" if _number(text, whole=True) is not None else "a whole number is wanted"
    if kind is Kind.NUMBER:
        return "" if _number(text, whole=False) is not None else "a number is wanted"
    if kind is Kind.JSON:
        try:
            read_json(text)
        except NotJson as problem:
            return str(problem)
    if kind is Kind.SWITCH and text not in ("true", "false"):
        return "true or false is wanted"
    return ""


def _number(text: str, *, whole: bool) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return None if whole or number != number or number in (float("inf"), float("-inf")) else number


def _value(field: Field, entry: Entry) -> Any:
    if field.kind is Kind.LIST and isinstance(entry, tuple):
        return [_scalar(field.item, one) for one in entry]
    return _scalar(field.kind, entry) if isinstance(entry, str) else entry


def _scalar(kind: Kind, text: str) -> Any:
    if kind in (Kind.INTEGER, Kind.NUMBER):
        return _number(text, whole=kind is Kind.INTEGER)
    if kind is Kind.JSON:
        return read_json(text)
    return text == "true" if kind is Kind.SWITCH else text


def _entry(field: Field, value: Any) -> Entry:
    """As a person would have typed or chosen it."""
    if field.kind is Kind.JSON:
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool) or field.kind is Kind.SELECT:
        return value  # type: ignore[no-any-return]
    if field.kind is Kind.LIST and isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_text(one) for one in value)
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _holds(field: Field, value: Any) -> bool:
    if field.kind is Kind.JSON:
        return json.dumps(value, ensure_ascii=False).isprintable()
    if value is None:
        return field.nullable or field.default is None
    if field.kind is Kind.SELECT:
        return any(value == option and type(value) is type(option) for option in field.options)
    if field.kind is Kind.LIST:
        return isinstance(value, list) and all(map(is_line, value))
    wanted = {Kind.TEXT: str, Kind.SWITCH: bool}.get(field.kind)
    if wanted is not None:
        return isinstance(value, wanted) and is_line(value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _put(payload: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *parents, name = path
    for parent in parents:
        payload = payload.setdefault(parent, {})
    payload[name] = value


def _find(payload: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        if not isinstance(payload, Mapping) or part not in payload:
            return ABSENT
        payload = payload[part]
    return payload
