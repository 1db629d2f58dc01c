"""What a schema may say: the rules of JSON Schema, and nothing that leads out of itself or takes forever."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

from evatui.kernel.admission.report import Pointer, nearest
from evatui.kernel.admission.schema_cost import resolve_pointer
from evatui.kernel.model.text import clean_line

__all__ = ["OPTIONS", "REFERENCES", "Registry", "SchemaFault", "schema_faults", "subschemas", "unremarkable"]

_MAX_FAULTS = 20
_LONGEST_TOLD = 1_000
_BEYOND_LINEAR = re.compile(r"\(\?<?[=!]|\\[1-9]|\\k<|\(\?P=")
_ONE = (
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "items",
    "contains",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
)
_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
_IDENTITY = ("$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment")
_VALUES = ("type", "enum", "const", "format", "pattern", "contentEncoding", "contentMediaType")
_NUMBERS = ("multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength")
_COUNTS = ("maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties")
_KEYS = ("required", "dependentRequired")
_NOTES = ("title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_KNOWN = frozenset((*_ONE, *_SEVERAL, *_NAMED, *_IDENTITY, *_VALUES, *_NUMBERS, *_COUNTS, *_KEYS, *_NOTES, *REFERENCES))
_CODED = ("contentEncoding", "contentMediaType")
_UNREMARKABLE = _KNOWN - {*REFERENCES, "$id", "$vocabulary", "pattern", "patternProperties", "format", *_CODED}
_FORMATS = frozenset(
    (
        *("date", "time", "date-time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"),
        *("uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer"),
        *("relative-json-pointer", "regex"),
    )
)
_NEWEST = "https://json-schema.org/draft/2020-12/schema"
_DRAFTS: Mapping[str, Any] = {
    _NEWEST: jsonschema_rs.Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "http://json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "http://json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
}
_DRAFT_NAMES = "2020-12, 2019-09, draft-07, draft-06, draft-04"


def _refuse(uri: str) -> Any:
    raise ValueError("references outside the schema are not followed")


OPTIONS: Mapping[str, Any] = {
    "retriever": _refuse,
    "pattern_options": jsonschema_rs.RegexOptions(),
    "validate_formats": True,
    "mask": "this value",
}
"""No reference is fetched, patterns take linear time, formats are checked, messages hold no values."""


Registry = Callable[[str], tuple[str, str] | None]
"""What is wrong with a reference that leaves the document: a code and a clause; None where it may be followed."""

_ONLY_HERE = ("EVA-305", 'leads out of the schema; only "#…" is followed')


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """``key``: the place is the key at ``at``, not its value."""

    code: str
    message: str
    at: Pointer
    key: bool = False
    warning: bool = False


def schema_faults(document: Mapping[str, Any], registry: Registry, *, plain: bool = False) -> list[SchemaFault]:
    """Everything wrong with a schema, errors before warnings, at most 20. ``registry``: what it may refer to.

    ``plain``: it is known to be `unremarkable`.
    """
    draft = document.get("$schema", _NEWEST)
    if not isinstance(draft, str) or (name := draft.rstrip("#")) not in _DRAFTS:
        return [SchemaFault("EVA-304", _no_draft(draft), ("$schema",))]
    faults = []
    if not plain:
        faults = [fault for at, part in subschemas(document) for fault in _own_faults(at, part, document, registry)]
    told = {fault.at for fault in faults if not fault.warning}
    meta = _meta(name)
    for error in () if meta.is_valid(document) else meta.iter_errors(document):
        at: Pointer = tuple(error.instance_path)
        if at not in told:
            told.add(at)
            faults.append(SchemaFault("EVA-304", _meta_message(error, at), at))
    return sorted(faults, key=lambda fault: fault.warning)[:_MAX_FAULTS] if faults else []


def _no_draft(draft: Any) -> str:
    return f'$schema names "{clean_line(str(draft), 80)}", which is none of the drafts read here: {_DRAFT_NAMES}'


def subschemas(schema: Any, at: Pointer = ()) -> Iterator[tuple[Pointer, Mapping[str, Any]]]:
    """The schema and every schema within it, with the place of each; booleans and broken parts are left out."""
    if not isinstance(schema, dict):
        return
    yield at, schema
    for name, child in schema.items():
        if name in _NAMED and isinstance(child, dict):
            for key, entry in child.items():
                yield from subschemas(entry, (*at, name, key))
        elif name in _SEVERAL and isinstance(child, list):
            for index, entry in enumerate(child):
                yield from subschemas(entry, (*at, name, index))
        elif name in _ONE:
            yield from subschemas(child, (*at, name))


def unremarkable(schema: Any) -> bool:
    """Does every part of it have only keywords with which no more can be wrong than the draft says? Most do.

    There is no reference in such a schema, and the library compiles it if the draft allows it.
    """
    if schema.__class__ is not dict:
        return True
    if not schema.keys() <= _UNREMARKABLE:
        return False
    for name, child in schema.items():
        inner: Iterable[Any] = ()
        if child.__class__ is dict:
            inner = child.values() if name in _NAMED else (child,) if name in _ONE else ()
        elif child.__class__ is list and name in _SEVERAL:
            inner = child
        for part in inner:
            if not unremarkable(part):
                return False
    return True


def _own_faults(at: Pointer, schema: Mapping[str, Any], document: Any, registry: Registry) -> Iterator[SchemaFault]:
    old = "draft-04" in document.get("$schema", "")
    for name, child in schema.items():
        if name in REFERENCES and isinstance(child, str):
            yield from _reference(name, child, (*at, name), document, registry)
        elif name == ("id" if old else "$id") and isinstance(child, str):
            if at:
                yield SchemaFault("EVA-305", f"{name} inside a schema starts another one", (*at, name), key=True)
        elif name == "pattern" and isinstance(child, str):
            yield from _pattern(child, (*at, name), key=False)
        elif name == "patternProperties" and isinstance(child, dict):
            for pattern in child:
                yield from _pattern(pattern, (*at, name, pattern), key=True)
        elif name == "format" and isinstance(child, str):
            yield from _format(child, (*at, name))
        elif name not in _KNOWN and (near := nearest(name, _KNOWN)) is not None:
            message = f'unknown keyword "{clean_line(name, 80)}"; did you mean {near}?'
            yield SchemaFault("EVA-310", message, (*at, name), key=True, warning=True)


def _reference(name: str, target: str, at: Pointer, document: Any, registry: Registry) -> Iterator[SchemaFault]:
    shown = f'{name} "{clean_line(target, 80)}"'
    if not target.startswith("#"):
        problem = registry(target) if name == "$ref" else _ONLY_HERE
        if problem is not None:
            yield SchemaFault(problem[0], f"{shown} {problem[1]}", at)
    elif resolve_pointer(document, unquote(target[1:])) is None:
        yield SchemaFault("EVA-308", f"{shown} leads nowhere", at)


def _format(name: str, at: Pointer) -> Iterator[SchemaFault]:
    """A name of one's own is anybody's right, and checks nothing; one that is nearly known was meant to check."""
    if name not in _FORMATS and (near := nearest(name, _FORMATS)) is not None:
        message = f'unknown format "{clean_line(name, 80)}", which checks nothing; did you mean {near}?'
        yield SchemaFault("EVA-310", message, at, warning=True)


def _pattern(pattern: str, at: Pointer, *, key: bool) -> Iterator[SchemaFault]:
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, **OPTIONS)
    except (ValueError, jsonschema_rs.ValidationError):
        message = f'"{clean_line(pattern, 80)}" {_why_no_pattern(pattern)}'
        yield SchemaFault("EVA-306", message, at, key=key)


def _why_no_pattern(pattern: str) -> str:
    if _BEYOND_LINEAR.search(pattern):
        return "looks around or back, which no regular expression of the linear-time kind can"
    try:
        re.compile(pattern[:_LONGEST_TOLD])
    except re.error as error:
        return f"is no regular expression: {clean_line(error.msg, 80)} at character {(error.pos or 0) + 1}"
    except (OverflowError, RecursionError):
        pass  # Python's limits are others, and say nothing of what is wrong here
    return "is too large for a regular expression of the linear-time kind, or says what that one cannot"


@functools.cache
def _meta(draft: str) -> Any:
    return _DRAFTS[draft]({"$ref": draft}, **OPTIONS)


def _meta_message(error: Any, at: Pointer) -> str:
    keyword = clean_line(str(at[-1]), 60) if at else "the schema"
    if at and at[-1] == "type":
        return "type must be one of array, boolean, integer, null, number, object, string, or a list of them"
    return clean_line(f"{keyword}: {error.message}", 300)
