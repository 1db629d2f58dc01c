"""What was typed into a form and not sent, and what was sent before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Draft", "Earlier", "problems_of"]

_REQUIRED = " is a required property"


@dataclass(frozen=True, slots=True)
class Draft:
    """``text`` is JSON, or what should become it; ``as_json``: it was typed as such, not into fields."""

    text: str
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Earlier:
    """A call that was made from this console."""

    at: str
    payload: Mapping[str, Any]
    outcome: str
    well: bool


def problems_of(violations: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """By JSON pointer, one each; what is missing counts for the place where it is missing."""
    found: dict[str, str] = {}
    for one in violations:
        pointer, message = str(one.get("pointer") or ""), str(one.get("message") or "")
        if message.endswith(_REQUIRED):
            name = message.removesuffix(_REQUIRED).strip("\"'")
            pointer, message = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}", "needed"
        found.setdefault(pointer, message)
    return found
