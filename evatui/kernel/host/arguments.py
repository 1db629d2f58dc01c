"""The one table that a host function takes, checked to the last key."""

from __future__ import annotations

from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar

from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.text import clean_line

__all__ = ["MAX_WHOLE", "Arguments"]

E = TypeVar("E", bound=StrEnum)

MAX_WHOLE = 2**53
"""The largest whole number that JSON carries everywhere."""


class Arguments:
    """Each ``take_…`` names an argument; `done` refuses what nobody took. All raise ``InvalidInput``.

    An argument that is absent or nil has its default; one without a default is required.
    """

    def __init__(self, function: str, argument: Any) -> None:
        self._function = function
        if not isinstance(argument, dict | None):
            raise self._invalid("takes one table of named arguments")
        self._given: dict[str, Any] = dict(argument or {})
        self._known: list[str] = []

    def take_text(self, name: str, default: str | None = None, *, limit: int, empty: bool = False) -> str:
        """Of at most ``limit`` characters, and at least one unless it may be ``empty``."""
        value = self._take(name)
        if value is None:
            value = default
        if value is None:
            raise self._invalid(f"needs {name}")
        if not isinstance(value, str):
            raise self._invalid(f"{name} must be text")
        least = 0 if empty else 1
        if not least <= len(value) <= limit:
            raise self._invalid(f"{name} must have {least} to {limit} characters")
        return value

    def take_choice(self, name: str, default: E) -> E:
        """One of the words of an enumeration."""
        value = self._take(name)
        words = [word.value for word in type(default)]
        if value is not None and value not in words:
            raise self._invalid(f"{name} must be one of {', '.join(words)}")
        return default if value is None else type(default)(value)

    def take_words(self, name: str, *, most: int, limit: int) -> tuple[str, ...]:
        """A list of 1 to ``most`` texts, which have together at most ``limit`` characters."""
        value = self._take(name)
        if value is None:
            raise self._invalid(f"needs {name}")
        if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
            raise self._invalid(f"{name} must be a list of texts")
        if not 1 <= len(value) <= most or sum(map(len, value)) > limit:
            raise self._invalid(f"{name} must be 1 to {most} texts of at most {limit} characters together")
        return tuple(value)

    def take_pairs(self, name: str, *, most: int, limit: int) -> dict[str, str]:
        """A table of at most ``most`` texts by name, which have together at most ``limit`` characters."""
        value = self._take(name)
        value = {} if value is None else value
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
            raise self._invalid(f"{name} must be a table of texts")
        if len(value) > most or sum(len(key) + len(text) for key, text in value.items()) > limit:
            raise self._invalid(f"{name} must be at most {most} texts of at most {limit} characters together")
        return dict(value)

    def take_number(self, name: str, default: int | None, low: int, high: int) -> int | None:
        """A whole number from ``low`` to ``high``; Lua's 3.0 is one too."""
        value = self._take(name)
        if value is None:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._invalid(f"{name} must be a whole number")
        if not low <= value <= high:
            raise self._invalid(f"{name} must be from {low} to {high}")
        return value

    def take_amount(self, name: str, *, required: bool = False) -> int | float | None:
        """How much of something: any number from 0 to 2^53; what is whole comes as an integer."""
        value = self._take(name)
        if value is None:
            if required:
                raise self._invalid(f"needs {name}")
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= MAX_WHOLE:
            raise self._invalid(f"{name} must be a number from 0 to 2^53")
        return int(value) if value == int(value) else value

    def take_value(self, name: str, *, required: bool = False) -> Any:
        """Anything; None where it is absent."""
        if required and name not in self._given:
            raise self._invalid(f"needs {name}")
        return self._take(name)

    def done(self) -> None:
        if not self._given:
            return
        unknown = str(next(iter(self._given)))
        close = get_close_matches(unknown, self._known, 1)
        hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(self._known) or 'none'}"
        raise self._invalid(f"has no argument {clean_line(unknown, 64)}; {hint}")

    def _take(self, name: str) -> Any:
        self._known.append(name)
        return self._given.pop(name, None)

    def _invalid(self, problem: str) -> CallFailed:
        return failure(ErrorKind.INVALID_INPUT, f"{self._function} {problem}")
