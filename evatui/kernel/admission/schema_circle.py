"""References that lead back to themselves without a step into the value: nobody can say what they demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evatui.kernel.admission.report import Pointer
from evatui.kernel.admission.schema_cost import same_value
from evatui.kernel.admission.schema_rules import REFERENCES, subschemas

__all__ = ["circle"]


def circle(document: Mapping[str, Any]) -> Pointer | None:
    """The place of such a reference, None where there is none."""
    places = {id(part): at for at, part in subschemas(document)}
    done: set[int] = set()
    for _, part in subschemas(document):
        around = _around(document, part, done) if id(part) not in done else []
        for schema in around:
            for name in REFERENCES:
                if name in schema:
                    return (*places.get(id(schema), ()), name)
    return None


def _around(document: Mapping[str, Any], start: Mapping[str, Any], done: set[int]) -> list[Mapping[str, Any]]:
    """The schemas of the first circle that ``start`` leads into; what was looked at is in ``done``."""
    path = [start]
    ways: list[Iterator[Any]] = [same_value(document, start)]
    here = {id(start)}
    while path:
        following = next(ways[-1], path)
        if following is path:  # nothing is left
            here.discard(id(path[-1]))
            done.add(id(path.pop()))
            ways.pop()
        elif isinstance(following, Mapping) and id(following) in here:
            first = next(index for index, schema in enumerate(path) if schema is following)
            return path[first:]
        elif isinstance(following, Mapping) and id(following) not in done:
            path.append(following)
            ways.append(same_value(document, following))
            here.add(id(following))
    return []
