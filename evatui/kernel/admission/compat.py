"""May a new schema take the place of an old one without anybody noticing?

For what goes in: whatever the old one accepted, the new one accepts. For what comes out, the other way round. What
cannot be proved is told as incompatible, so a change that hurts somebody is never called compatible; some that hurt
nobody are not seen as such (``pattern``, ``not``, ``if`` and the like are only compared for equality).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from evatui.kernel.admission.compat_bounds import tightened
from evatui.kernel.admission.compat_keywords import COMPARED, FOR, NEVER, NUMBERS, TOGETHER, WHOLE, most, required
from evatui.kernel.admission.compat_values import Properties, finite, holds
from evatui.kernel.admission.schema_parts import EVERY_TYPE, Circular, Part, Schema, TooIntricate, plain_types
from evatui.kernel.model.text import clean_line

__all__ = ["Direction", "Incompatibility", "incompatibilities"]

_MAX_STEPS = 5_000
_MAX_FOUND = 50
_KINDS = tuple(Part(rules := {"type": name}, rules, "") for name in (*sorted(EVERY_TYPE - NUMBERS), "number"))


class Direction(Enum):
    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """``pointer`` is the JSON pointer of the place in the new schema, ``""`` for the whole."""

    pointer: str
    message: str


def incompatibilities(
    old: Mapping[str, Any], new: Mapping[str, Any], direction: Direction
) -> tuple[Incompatibility, ...]:
    """Why ``new`` is no replacement for ``old``, at most 50 reasons; empty where it surely is one."""
    if old == new and repr(old) == repr(new):
        return ()
    narrow, wide = (old, new) if direction is Direction.INPUT else (new, old)
    return _Comparison(Schema(narrow), Schema(wide), direction).run()


class _Comparison:
    """Does everything that the ``narrow`` schema accepts fit the ``wide`` one?"""

    def __init__(self, narrow: Schema, wide: Schema, direction: Direction) -> None:
        self._narrow = narrow
        self._wide = wide
        self._new_is_wide = direction is Direction.INPUT
        self._found: list[Incompatibility] = []
        self._steps = 0
        self._above: dict[tuple[frozenset[tuple[int, frozenset[str]]], int], int] = {}

    def run(self) -> tuple[Incompatibility, ...]:
        if self._narrow.draft != self._wide.draft:
            return (Incompatibility("/$schema", "another draft of JSON Schema reads the same words differently"),)
        try:
            narrow = self._narrow.parts(self._narrow.document, "")
            self._all(narrow, self._wide.parts(self._wide.document, ""), 0)
        except Circular:
            self._found = [Incompatibility("", "a reference leads nowhere but back to itself")]
        except (TooIntricate, RecursionError):
            self._found = [Incompatibility("", "the schemas are too intricate to be compared")]
        return tuple(dict.fromkeys(self._found))[:_MAX_FOUND]

    # -- one value --------------------------------------------------------------------------

    def _all(self, narrow: Sequence[Part], wide: Iterable[Part], level: int) -> None:
        for part in wide:
            self._one(narrow, part, level)

    def _one(self, narrow: Sequence[Part], wide: Part, level: int) -> None:
        """``level`` counts the steps into the value: only a step makes it sound to take a comparison as done."""
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise TooIntricate
        if not self._narrow.types(narrow):
            return
        key = (frozenset((id(part.source), frozenset(part.rules or ())) for part in narrow), id(wide.source))
        if key in self._above:
            if self._above[key] >= level:
                raise Circular
            return
        self._above[key] = level
        try:
            told = self._tried(self._direct, narrow, wide, level)
            if told and not self._by_branches(narrow, wide, level) and not self._by_types(narrow, wide, level):
                self._found += told
        finally:
            del self._above[key]

    def _tried(self, compare: Callable[..., None], *given: Any) -> list[Incompatibility]:
        """What ``compare`` finds, without it being told yet."""
        kept, self._found = self._found, []
        try:
            compare(*given)
            return self._found
        finally:
            self._found = kept

    def _by_branches(self, narrow: Sequence[Part], wide: Part, level: int) -> bool:
        """Where the narrow side is one of several alternatives: does each of them fit?"""
        for index, part in enumerate(narrow):
            for word in ("anyOf", "oneOf"):
                if part.rules and word in part.rules:
                    rest = {name: value for name, value in part.rules.items() if name != word}
                    others = [*narrow[:index], Part(rest, part.source, part.pointer), *narrow[index + 1 :]]
                    branches = self._narrow.children(part, word)
                    if not any(self._tried(self._one, [*others, *branch], wide, level) for branch in branches):
                        return True
        return False

    def _by_types(self, narrow: Sequence[Part], wide: Part, level: int) -> bool:
        """Where the wide side offers alternatives, each type of the narrow one may fit another of them."""
        types = self._narrow.types(narrow)
        kinds = [kind for kind in _KINDS if plain_types(kind.rules or {}) & types]
        if len(kinds) < 2 or not {"anyOf", "oneOf"} & (wide.rules or {}).keys():
            return False
        return not any(self._tried(self._one, [*narrow, kind], wide, level) for kind in kinds)

    def _direct(self, narrow: Sequence[Part], wide: Part, level: int) -> None:
        if wide.rules is None:
            self._say(narrow, wide, None, "nothing is accepted here any more", "something may come here now")
            return
        values = finite(self._narrow, narrow)
        if values is not None and (fits := holds(self._wide, wide, values)) is not None:
            if not fits:
                self._say(narrow, wide, "enum", "not every value is accepted any more", "there may be other values now")
            return
        types = self._narrow.types(narrow)
        self._types(narrow, wide, types)
        for keyword, taken, given in tightened(narrow, wide, types):
            self._say(narrow, wide, keyword, taken, given)
        if "array" in types:
            self._arrays(narrow, wide, level)
        if "object" in types:
            self._objects(narrow, wide, level)
        for word in ("anyOf", "oneOf"):
            if word in wide.rules:
                self._alternatives(narrow, wide, word, level)
        self._equal(narrow, wide, types)

    def _say(self, narrow: Sequence[Part], wide: Part, keyword: str | None, taken: str, given: str) -> None:
        """``taken`` is what a caller meets with, ``given`` what a reader of results does."""
        part = wide if self._new_is_wide else next(iter(narrow), None)
        pointer = part.pointer if part else ""
        if part and keyword is not None and keyword in (part.rules or {}):
            pointer = part.at(keyword)
        self._found.append(Incompatibility(pointer, clean_line(taken if self._new_is_wide else given, 300)))

    # -- keywords for any value -------------------------------------------------------------

    def _types(self, narrow: Sequence[Part], wide: Part, types: frozenset[str]) -> None:
        if lost := types - plain_types(wide.rules or {}):
            names = ", ".join(sorted("number" if name == "fraction" else name for name in lost))
            self._say(narrow, wide, "type", f"{names} is not accepted any more", f"{names} may come here now")

    def _alternatives(self, narrow: Sequence[Part], wide: Part, word: str, level: int) -> None:
        branches = self._wide.children(wide, word)
        if word == "oneOf" and not self._apart(branches):
            if not self._has(narrow, "oneOf", wide):
                self._say(narrow, wide, word, "other alternatives exclude each other", "other alternatives may come")
            return
        for branch in branches:
            if not self._tried(self._all, narrow, branch, level):
                return
        self._say(narrow, wide, word, "no alternative accepts all of this any more", "another alternative may come now")

    def _apart(self, branches: Sequence[Sequence[Part]]) -> bool:
        """Can no value fit two of them, since their types differ?"""
        kinds = [self._wide.types(branch) for branch in branches]
        return sum(map(len, kinds)) == len(frozenset().union(*kinds))

    def _equal(self, narrow: Sequence[Part], wide: Part, types: frozenset[str]) -> None:
        """What is only compared as it stands."""
        assert wide.rules is not None
        for name in wide.rules:
            if name in COMPARED or not types & FOR.get(name, EVERY_TYPE):
                continue
            if name in NEVER:
                same = False
            elif name in WHOLE:
                same = any(self._wide.same(wide.source, part.source, self._narrow) for part in narrow)
            else:
                same = self._has(narrow, TOGETHER.get(name, name), wide)
            if not same:
                self._say(narrow, wide, name, f"{name} is new or different", f"{name} is gone or different")

    def _has(self, narrow: Sequence[Part], name: str, wide: Part) -> bool:
        """Does a part of the narrow side say the same under ``name``, and beside it what belongs to it?"""
        assert wide.rules is not None
        names = (name, *(other for other, owner in TOGETHER.items() if owner == name))
        return any(
            part.rules is not None
            and all(
                (one in wide.rules) == (one in part.rules)
                and (one not in wide.rules or self._wide.same(wide.rules[one], part.rules[one], self._narrow))
                for one in names
            )
            for part in narrow
        )

    # -- arrays -----------------------------------------------------------------------------

    def _arrays(self, narrow: Sequence[Part], wide: Part, level: int) -> None:
        assert wide.rules is not None
        longest = most(narrow, "maxItems")
        if wide.rules.get("uniqueItems") is True:
            unique = any(part.rules and part.rules.get("uniqueItems") is True for part in narrow)
            if not unique and (longest is None or longest > 1):
                self._say(narrow, wide, "uniqueItems", "items must now differ", "items may be the same now")
        mine = [self._narrow.items(part) for part in narrow]
        first, rest = self._wide.items(wide)
        for index in range(max(len(first), *(len(listed) for listed, _ in mine), 0) + 1):
            if longest is not None and index >= longest:
                return
            has = [listed[index] if index < len(listed) else others for listed, others in mine]
            self._below(has, first[index] if index < len(first) else rest, level)

    def _below(self, narrow: Iterable[tuple[Any, str]], wide: tuple[Any, str], level: int) -> None:
        """A step into the value."""
        if wide[0] is True:
            return
        parts = [part for schema, pointer in narrow for part in self._narrow.parts(schema, pointer)]
        if not parts and not self._new_is_wide:
            parts = [Part({}, None, next((pointer for _, pointer in narrow), ""))]
        self._all(parts, self._wide.parts(*wide), level + 1)

    # -- objects ----------------------------------------------------------------------------

    def _objects(self, narrow: Sequence[Part], wide: Part, level: int) -> None:
        assert wide.rules is not None
        has = required(narrow)
        for name in wide.rules.get("required", ()):
            if name not in has:
                shown = clean_line(str(name), 80)
                self._say(narrow, wide, "required", f"{shown} must now be there", f"{shown} may be missing now")
        self._dependent(narrow, wide, has)
        if "propertyNames" in wide.rules:
            name = "propertyNames"
            named = [(part.rules[name], part.at(name)) for part in narrow if part.rules and name in part.rules]
            self._below([*named, ({"type": "string"}, "")], (wide.rules[name], wide.at(name)), level)
        mine, theirs = [Properties(part) for part in narrow], Properties(wide)
        for name in dict.fromkeys((*theirs.named, *(name for one in mine for name in one.named))):
            for schema in theirs.of(name):
                self._below([found for one in mine for found in one.of(name)], schema, level)
        bare = [one.others for one in mine if not one.patterns]
        for pattern, schema in theirs.patterns.items():
            self._below([*(one.patterns[pattern] for one in mine if pattern in one.patterns), *bare], schema, level)
        self._others(mine, bare, theirs, level)

    def _others(
        self, mine: Sequence[Properties], bare: Sequence[tuple[Any, str]], theirs: Properties, level: int
    ) -> None:
        """Properties that neither side names, and no pattern of the wide side matches."""
        told = self._tried(self._below, bare, theirs.others, level)
        for one in mine:
            if told and one.patterns:
                unmatched = [schema for name, schema in one.patterns.items() if name not in theirs.patterns]
                if not self._tried(self._each, (*unmatched, one.others), theirs.others, level):
                    return
        self._found += told

    def _each(self, every: Iterable[tuple[Any, str]], wide: tuple[Any, str], level: int) -> None:
        for schema in every:
            self._below([schema], wide, level)

    def _dependent(self, narrow: Sequence[Part], wide: Part, has: frozenset[str]) -> None:
        for trigger, names in (wide.rules or {}).get("dependentRequired", {}).items():
            given = [(part.rules or {}).get("dependentRequired", {}).get(trigger, ()) for part in narrow]
            if missing := set(names) - has.union(*given) - {trigger}:
                shown = clean_line(", ".join(sorted(missing)), 120)
                taken = f"{shown} must now be there beside {clean_line(trigger, 80)}"
                given_up = f"{shown} may be missing beside {clean_line(trigger, 80)}"
                self._say(narrow, wide, "dependentRequired", taken, given_up)
