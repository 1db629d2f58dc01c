"""Keywords as they are compared: what each speaks of, and the bounds that several parts set together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evatui.kernel.admission.schema_parts import Part

__all__ = [
    "COMPARED",
    "FOR",
    "HIGH",
    "LOW",
    "NEVER",
    "NUMBERS",
    "TOGETHER",
    "WHOLE",
    "least",
    "limit",
    "most",
    "required",
]

NUMBERS = frozenset({"integer", "fraction"})
LOW = ("minLength", "minItems", "minProperties")
HIGH = ("maxLength", "maxItems", "maxProperties")
TOGETHER = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
"""Keywords that mean something only beside another one."""
WHOLE = frozenset({"unevaluatedItems", "unevaluatedProperties"})
"""What they say depends on everything around them."""
NEVER = frozenset({"$dynamicRef", "$recursiveRef"})
FOR: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), frozenset({"string"})),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), frozenset({"string"})),
    **dict.fromkeys(("minItems", "maxItems", "contains", "unevaluatedItems"), frozenset({"array"})),
    **dict.fromkeys(("minContains", "maxContains"), frozenset({"array"})),
    **dict.fromkeys(("minProperties", "maxProperties", "unevaluatedProperties"), frozenset({"object"})),
    **dict.fromkeys(("dependentSchemas", "dependencies"), frozenset({"object"})),
}
"""The types that a keyword speaks of; of all, where it is not named here."""
COMPARED = frozenset(
    (
        *("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", *LOW, *HIGH),
        *("uniqueItems", "items", "prefixItems", "additionalItems", "required", "properties", "patternProperties"),
        *("additionalProperties", "propertyNames", "dependentRequired", "anyOf", "oneOf"),
    )
)
"""Keywords whose meaning is compared, not only their text."""


def least(parts: Iterable[Part], name: str) -> Any:
    """The size that all ``parts`` together demand at least."""
    found = [part.rules[name] for part in parts if part.rules and name in part.rules]
    if name == "minProperties":
        found.append(len(required(parts)))
    return max(found, default=0)


def most(parts: Iterable[Part], name: str) -> Any:
    """The size that all ``parts`` together allow at most, None where they set no bound."""
    return min((part.rules[name] for part in parts if part.rules and name in part.rules), default=None)


def required(parts: Iterable[Part]) -> frozenset[str]:
    return frozenset(name for part in parts if part.rules for name in part.rules.get("required", ()))


def limit(part: Part, name: str, sign: int) -> tuple[Any, bool] | None:
    """The bound as a lower one: for a maximum the values change their signs. True: the bound itself is left out."""
    rules = part.rules or {}
    exclusive = rules.get("exclusive" + name.capitalize())
    found = []
    if name in rules:
        found.append((sign * rules[name], exclusive is True))
    if exclusive is not None and not isinstance(exclusive, bool):
        found.append((sign * exclusive, True))
    return max(found, default=None)
