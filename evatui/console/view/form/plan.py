"""From an input schema to the fields of a form, or to the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evatui.console.view.form.field import ABSENT, Field, Kind, When, is_line

__all__ = ["Form", "TooRich", "plan"]

_DEPTH = 3
_MOST = 40
_HOPS = 16
_KINDS = {"string": Kind.TEXT, "integer": Kind.INTEGER, "number": Kind.NUMBER, "boolean": Kind.SWITCH}
_OPEN = ("anyOf", "allOf", "if", "not", "$dynamicRef", "dependentSchemas", "patternProperties", "prefixItems")
_WORDS = {
    "anyOf": "may be one of several things (anyOf)",
    "allOf": "is put together of parts (allOf)",
    "if": "depends on other values (if)",
    "not": "is told by what it is not (not)",
    "patternProperties": "has names by a pattern (patternProperties)",
    "prefixItems": "is a list with a meaning for each place (prefixItems)",
}


@dataclass(frozen=True, slots=True)
class Form:
    """``left_out`` are optional values that no field can hold, each with why; JSON can."""

    fields: tuple[Field, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TooRich:
    because: str


class _Rich(Exception):
    """A part that no field can hold. Its text says which, and why."""


def plan(schema: object) -> Form | TooRich:
    """Text, numbers, switches, choices, lists of these, anything at all as a line of JSON, objects down to depth 3, and
    alternatives with a tag.

    The schema comes from a stranger: whatever it says, this returns.
    """
    try:
        planner = _Planner(schema)
        fields = planner.top()
    except _Rich as rich:
        return TooRich(str(rich))
    except RecursionError:
        return TooRich("its schema is nested too deeply")
    if len(fields) > _MOST:
        return TooRich(f"it has {len(fields)} fields; a form has {_MOST} at most")
    return Form(tuple(fields), tuple(planner.left_out))


class _Planner:
    def __init__(self, schema: object) -> None:
        self._root = schema
        self.left_out: list[str] = []

    def top(self) -> list[Field]:
        schema = self._resolved(self._root, ())
        if _type(schema) not in ("object", None) or ("properties" not in schema and "oneOf" not in schema):
            if _type(schema) == "object" or not schema:
                if schema.get("additionalProperties") is False or not schema.get("required"):
                    return []
                raise _Rich("its schema names no properties")
            raise _Rich("its payload is no object with properties")
        return list(self._object(schema, (), (), required=True))

    def _object(
        self, schema: Mapping[str, Any], path: tuple[str, ...], when: tuple[When, ...], *, required: bool
    ) -> Iterator[Field]:
        self._refuse(schema, path)
        if len(path) >= _DEPTH:
            raise _Rich(f"{_name(path)} is an object at depth {len(path) + 1}; a form goes down to {_DEPTH}")
        needed = _names(schema.get("required")) if required else ()
        properties = schema.get("properties")
        for name, part in properties.items() if isinstance(properties, Mapping) else ():
            yield from self._property(part, (*path, str(name)), when, required=name in needed)
        if "oneOf" in schema:
            yield from self._tagged(schema, path, when, required=required)

    def _property(
        self, schema: object, path: tuple[str, ...], when: tuple[When, ...], *, required: bool
    ) -> Iterator[Field]:
        try:
            fields = list(self._value(self._resolved(schema, path), path, when, required=required))
        except _Rich as rich:
            if required:
                raise
            self.left_out.append(str(rich))
            return
        yield from fields

    def _value(
        self, schema: Mapping[str, Any], path: tuple[str, ...], when: tuple[When, ...], *, required: bool
    ) -> Iterator[Field]:
        if _type(schema) == "object" or "properties" in schema or ("oneOf" in schema and _type(schema) is None):
            if schema.get("default", ABSENT) is not ABSENT and schema["default"] != {}:
                raise _Rich(f"{_name(path)} has an object as its default")
            if not schema.get("properties") and "oneOf" not in schema:
                raise _Rich(f"{_name(path)} is an object without named properties")
            yield from self._object(schema, path, when, required=required)
            return
        self._refuse(schema, path)
        kind, nullable, options = _kind(schema, path)
        yield Field(
            path=path,
            kind=kind,
            required=required,
            nullable=nullable,
            default=_default(schema, kind, path),
            options=options,
            item=self._item(schema, path) if kind is Kind.LIST else Kind.TEXT,
            help=_help(schema),
            when=when,
        )

    def _item(self, schema: Mapping[str, Any], path: tuple[str, ...]) -> Kind:
        items = self._resolved(schema.get("items", {"type": "string"}), path)
        self._refuse(items, path)
        kind = _KINDS.get(str(_type(items)))
        if kind is None or "oneOf" in items:
            raise _Rich(f"{_name(path)} is a list of more than texts or numbers")
        return kind

    def _tagged(
        self, schema: Mapping[str, Any], path: tuple[str, ...], when: tuple[When, ...], *, required: bool
    ) -> Iterator[Field]:
        branches = schema["oneOf"]
        if not isinstance(branches, Sequence) or isinstance(branches, str) or not branches:
            raise _Rich(f"{_name(path)} has alternatives that are no list (oneOf)")
        resolved = [self._resolved(branch, path) for branch in branches]
        tag = next((name for name in _consts(resolved[0]) if all(name in _consts(one) for one in resolved)), None)
        if tag is None:
            raise _Rich(f"{_name(path)} has alternatives without a tag to tell them by (oneOf)")
        values = tuple(_consts(one)[tag] for one in resolved)
        place = (*path, tag)
        default = values[0] if required else ABSENT
        yield Field(path=place, kind=Kind.SELECT, required=required, default=default, options=values, when=when)
        for value, branch in zip(values, resolved, strict=True):
            rest = {name: part for name, part in (branch.get("properties") or {}).items() if name != tag}
            chosen = {**branch, "properties": rest}
            yield from self._object(chosen, path, (*when, (place, value)), required=required)

    def _refuse(self, schema: Mapping[str, Any], path: tuple[str, ...]) -> None:
        for word in _OPEN:
            if word in schema:
                raise _Rich(f"{_name(path)} {_WORDS.get(word, f'uses {word}')}")

    def _resolved(self, schema: object, path: tuple[str, ...]) -> Mapping[str, Any]:
        """Past references inside the document; others cannot be followed from here."""
        for _ in range(_HOPS):
            if schema is True:
                return {}
            if not isinstance(schema, Mapping):
                raise _Rich(f"{_name(path)} allows nothing")
            target = schema.get("$ref")
            if target is None:
                return schema
            schema = self._target(target, path)
        raise _Rich(f"{_name(path)} refers to itself")

    def _target(self, target: object, path: tuple[str, ...]) -> object:
        found: object = self._root
        if not isinstance(target, str) or not target.startswith("#"):
            raise _Rich(f"{_name(path)} refers to another document")
        for step in filter(None, target[1:].split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        return found


def _kind(schema: Mapping[str, Any], path: tuple[str, ...]) -> tuple[Kind, bool, tuple[Any, ...]]:
    """The kind, whether null is allowed as well, and the options of a choice."""
    given = schema.get("type")
    names = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else []
    nullable = "null" in names
    if (options := _options(schema)) is not None:
        if any(isinstance(option, Mapping | list) for option in options):
            raise _Rich(f"{_name(path)} is a choice of more than texts or numbers")
        return Kind.SELECT, None in options, tuple(option for option in options if option is not None)
    rest = [name for name in names if name != "null"]
    if rest == ["array"]:
        return Kind.LIST, nullable, ()
    if len(rest) == 1 and rest[0] in _KINDS:
        return _KINDS[rest[0]], nullable, ()
    if not names:
        return Kind.JSON, False, ()
    raise _Rich(f"{_name(path)} may be {' or '.join(map(str, rest)) or 'nothing but null'}")


def _options(schema: Mapping[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    options = schema.get("enum")
    return list(options) if isinstance(options, list) and options else None


def _default(schema: Mapping[str, Any], kind: Kind, path: tuple[str, ...]) -> Any:
    default = schema["const"] if "const" in schema else schema.get("default", ABSENT)
    if default is ABSENT or default is None or kind in (Kind.SELECT, Kind.JSON):
        return default
    if kind is Kind.LIST:
        fits = isinstance(default, list) and all(map(is_line, default))
    elif kind is Kind.TEXT:
        fits = isinstance(default, str) and is_line(default)
    else:
        fits = isinstance(default, bool) if kind is Kind.SWITCH else isinstance(default, int | float)
    if not fits:
        raise _Rich(f"{_name(path)} has a default that its field cannot hold")
    return default


def _consts(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that have one possible value, a text or a number."""
    properties = schema.get("properties")
    found = {}
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        options = _options(part) if isinstance(part, Mapping) else None
        if options is not None and len(options) == 1 and isinstance(options[0], str | int | float):
            found[str(name)] = options[0]
    return found


def _type(schema: Mapping[str, Any]) -> object:
    given = schema.get("type")
    if isinstance(given, list):
        rest = [name for name in given if name != "null"]
        return rest[0] if len(rest) == 1 else None
    return given


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _help(schema: Mapping[str, Any]) -> str:
    told = schema.get("description") or schema.get("title")
    return told if isinstance(told, str) else ""


def _name(path: tuple[str, ...]) -> str:
    return ".".join(path) or "the payload"
