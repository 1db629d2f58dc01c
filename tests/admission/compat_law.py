"""The law of compatible schemas, against the validator that is asked for every call."""

from __future__ import annotations

import copy
import random
from typing import Any

import jsonschema_rs
from hypothesis import assume
from hypothesis import strategies as st

from evatui.kernel.admission.compat import Direction, incompatibilities
from evatui.kernel.admission.schema_rules import OPTIONS
from tests.admission.schema_strategies import DRAFTS, schemas, values

__all__ = ["check"]


def check(draft: str | None, data: st.DataObject) -> None:
    """Two schemas, often one made from the other: where they are called compatible, no value is lost."""
    booleans = draft != DRAFTS[-1]
    old = data.draw(schemas(draft, booleans=booleans))
    if data.draw(st.booleans()):
        new = edited(old, data.draw(st.randoms(use_true_random=False)))
    else:
        new = data.draw(schemas(draft, booleans=booleans))
    before, after = validator(old), validator(new)
    assume(before is not None and after is not None)
    compatible = not incompatibilities(old, new, Direction.INPUT)
    assert compatible == (not incompatibilities(new, old, Direction.OUTPUT))
    if compatible:
        for value in data.draw(st.lists(values(), min_size=1, max_size=8)):
            assert after.is_valid(value) or not before.is_valid(value), value


def validator(document: dict[str, Any]) -> Any:
    try:
        return jsonschema_rs.validator_for(document, **OPTIONS)
    except ValueError:
        return None


def edited(schema: Any, choice: random.Random) -> Any:
    """The schema with one keyword, somewhere in it, dropped, or taken from elsewhere in it."""
    found = copy.deepcopy(schema)
    inside: list[Any] = [found]
    for one in inside:
        if isinstance(one, dict | list):
            inside += list(one.values()) if isinstance(one, dict) else one
    homes = [one for one in inside if isinstance(one, dict) and one]
    home = choice.choice(homes)
    key = choice.choice(sorted(home))
    if choice.random() < 0.5:
        del home[key]
    else:
        home[key] = copy.deepcopy(choice.choice([one.get(key) or home[key] for one in homes]))
    return found
