"""Numbers and sizes: which bounds of the wide side does the narrow one not keep to?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evatui.kernel.admission.compat_keywords import FOR, HIGH, LOW, NUMBERS, least, limit, most
from evatui.kernel.admission.schema_parts import Part

__all__ = ["tightened"]

_Found = tuple[str, str, str]
"""The keyword, what a caller meets with where it is new, and what a reader of results does where it is gone."""


def tightened(narrow: Sequence[Part], wide: Part, types: frozenset[str]) -> Iterator[_Found]:
    """Each keyword of ``wide`` that a value may break which has one of the ``types`` and fits ``narrow``."""
    rules = wide.rules or {}
    if types & NUMBERS:
        yield from _range(narrow, wide)
        yield from _multiple(narrow, rules.get("multipleOf"), types)
    for name in (*LOW, *HIGH):
        if name in rules and types & FOR[name]:
            found = least(narrow, name) if name in LOW else most(narrow, name)
            bound = rules[name]
            if found is None or (found < bound if name in LOW else found > bound):
                yield name, f"{name} is now {bound}", f"{name} is no longer {bound}"


def _range(narrow: Sequence[Part], wide: Part) -> Iterator[_Found]:
    for name, sign in (("minimum", 1), ("maximum", -1)):
        wanted = limit(wide, name, sign)
        if wanted is None:
            continue
        has = max((found for part in narrow if (found := limit(part, name, sign)) is not None), default=None)
        if has is None or has < wanted:
            value = sign * wanted[0]
            yield name, f"{name} is now {value}", f"{name} is no longer {value}"


def _multiple(narrow: Sequence[Part], of: int | float | None, types: frozenset[str]) -> Iterator[_Found]:
    if of is None or (of == 1 and "fraction" not in types):
        return
    for part in narrow:
        mine = (part.rules or {}).get("multipleOf")
        if mine == of or (isinstance(mine, int) and isinstance(of, int) and mine % of == 0):
            return
    yield "multipleOf", f"it must now be a multiple of {of}", f"it need be no multiple of {of} now"
