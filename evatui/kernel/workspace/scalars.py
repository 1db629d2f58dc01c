"""Plain scalars by the core schema of YAML 1.2: ``no``, ``on`` and ``1:30`` are text, ``012`` is the number 12."""

from __future__ import annotations

import functools
import math
import re

__all__ = ["Scalar", "UnfitNumber", "resolve"]

Scalar = str | int | float | bool | None

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_NUMERIC_START = frozenset("+-.0123456789")
_KEPT = 4_096
"""Answers kept: the keys and the words of one kind of file are the same again and again."""
_LONGEST = 400
"""Characters of a number; past it, only leading or trailing zeros could keep it in range."""


class UnfitNumber(ValueError):
    """Infinite, not a number, or of more than 64 bits: JSON and Lua have no such value."""


@functools.lru_cache(_KEPT)
def resolve(text: str) -> Scalar:
    """The value of an unquoted scalar. Raises `UnfitNumber`."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC_START:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return _finite(text)
    if _NOT_FINITE.fullmatch(text):
        raise UnfitNumber
    return text


def _integer(text: str) -> int:
    if len(text) > _LONGEST:
        raise UnfitNumber
    base = {"0o": 8, "0x": 16}.get(text[:2])
    number = int(text[2:], base) if base else int(text)
    if not -(2**63) <= number < 2**63:
        raise UnfitNumber
    return number


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise UnfitNumber
    return number
