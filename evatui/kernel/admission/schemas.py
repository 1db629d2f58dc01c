"""Schemas at work: compiled at most once per generation, asked for every call from any thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

from evatui.kernel.admission.schema_cost import Ways, pointer_steps, resolve_pointer
from evatui.kernel.admission.schema_rules import OPTIONS
from evatui.kernel.model.text import clean_line

__all__ = ["CompiledSchema", "Violation"]

_MAX_VIOLATIONS = 20
_MAX_TOLD_WAYS = 1_000
_MAX_TOLD = 20_000
_MAX_POINTER = 200
_MAX_MESSAGE = 300
_MAX_HOPS = 64
_KEPT_POINTERS = 256


@dataclass(frozen=True, slots=True)
class Violation:
    """Where (a JSON pointer, ``""`` for the whole) and what; never the value itself."""

    pointer: str
    message: str

    @property
    def text(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """``document`` is the schema itself. Raises `ValueError` from the library for one that is no valid schema.

    ``sure``: it is known to be valid, so it is compiled only when the first value is to be judged.
    """

    document: Mapping[str, Any]
    sure: InitVar[bool] = False
    _compiled: Any = field(default=None, init=False, repr=False, compare=False)
    _ways: Ways | None = field(default=None, init=False, repr=False, compare=False)
    _arrays: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self, sure: bool) -> None:
        if not sure:
            self._compile()

    @property
    def _validator(self) -> Any:
        return self._compiled if self._compiled is not None else self._compile()

    def _compile(self) -> Any:
        """Two threads may both do it: then the one result is as good as the other."""
        compiled = jsonschema_rs.validator_for(dict(self.document), **OPTIONS)
        object.__setattr__(self, "_compiled", compiled)
        return compiled

    def check(self, value: Any) -> list[Violation]:
        """What in ``value`` (JSON-like) breaks the schema: by place, at most 20; empty where all is well.

        Where saying everything would take too long, only the first violation is told, or only that there is one.
        """
        try:
            if self._validator.is_valid(value):
                return []
            found = self._violations(value)
        except (ValueError, TypeError, RecursionError) as error:
            return [Violation("", clean_line(f"the value is not JSON: {error}", _MAX_MESSAGE))]
        return sorted(found, key=lambda violation: violation.pointer)[:_MAX_VIOLATIONS]

    def fits(self, value: Any) -> bool:
        """`check`, without saying what is wrong."""
        try:
            return bool(self._validator.is_valid(value))
        except (ValueError, TypeError, RecursionError):
            return False

    def _violations(self, value: Any) -> list[Violation]:
        """The library judges a value in linear time, but spells out every alternative of every error."""
        nodes, depth = _size(value)
        if self._ways is None:
            object.__setattr__(self, "_ways", Ways(self.document))  # most schemas never refuse anything
        assert self._ways is not None
        ways = self._ways.at_depth(depth)
        if ways > _MAX_TOLD_WAYS:
            return [Violation("", "the value does not fit; the alternatives are too many to say where")]
        if ways * nodes <= _MAX_TOLD:
            return [_violation(error) for error in self._validator.iter_errors(value)]
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return [_violation(error)]
        return []

    def empty_is_array(self, pointer: str) -> bool:
        """Does the schema at this place of a value (a JSON pointer) allow an array, and no object?

        An empty Lua table there is an array; everywhere else it is an object.
        """
        known = self._arrays.get(pointer)
        if known is None:
            known = any(map(self._wants_array, self._at(pointer)))
            if len(self._arrays) < _KEPT_POINTERS:
                self._arrays[pointer] = known
        return known

    def _at(self, pointer: str) -> list[Mapping[str, Any]]:
        """The subschemas that apply at ``pointer``, as far as that can be said without the value."""
        here = list(self._spread(self.document))
        for step in pointer_steps(pointer):
            here = [found for schema in here for child in _children(schema, step) for found in self._spread(child)]
        return here

    def _spread(self, schema: Any, hops: int = 0) -> Iterator[Mapping[str, Any]]:
        """The schema with everything that it also requires: references and ``allOf``."""
        if not isinstance(schema, Mapping) or hops > _MAX_HOPS:
            return
        yield schema
        if isinstance(schema.get("$ref"), str):
            yield from self._spread(resolve_pointer(self.document, unquote(schema["$ref"].removeprefix("#"))), hops + 1)
        for part in schema.get("allOf", ()):
            yield from self._spread(part, hops + 1)

    def _wants_array(self, schema: Mapping[str, Any], hops: int = 0) -> bool:
        if "type" in schema:
            types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            return "array" in types and "object" not in types
        for word in ("anyOf", "oneOf"):
            branches = [found for branch in schema.get(word, ()) for found in self._spread(branch)]
            typed = [branch for branch in branches if branch.get("type") != "null"]
            if typed and hops < _MAX_HOPS and all(self._wants_array(branch, hops + 1) for branch in typed):
                return True
        return False


def _children(schema: Mapping[str, Any], step: str) -> Iterator[Any]:
    """Where a step is a number, it may name an item or a property: only the value could tell."""
    properties = schema.get("properties", {})
    yield properties[step] if step in properties else schema.get("additionalProperties")
    if step.isdecimal():
        prefix = schema.get("prefixItems", ())
        yield prefix[int(step)] if int(step) < len(prefix) else schema.get("items")


def _violation(error: Any) -> Violation:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in error.instance_path)
    pointer = "".join(f"/{step}" for step in steps)
    return Violation(clean_line(pointer, _MAX_POINTER), clean_line(error.message, _MAX_MESSAGE))


def _size(value: Any) -> tuple[int, int]:
    """How many values there are in ``value``, and how deep they are nested; counting stops where that is too much."""
    nodes, depth, level = 0, 0, [value]
    while level and nodes <= _MAX_TOLD:
        nodes += len(level)
        level = [child for parent in level for child in _inner(parent)]
        depth += bool(level)
    return nodes, depth


def _inner(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()
