"""One field of a form, and what stands in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final

__all__ = ["ABSENT", "Absent", "Entry", "Field", "Kind", "When", "is_line"]


class Kind(StrEnum):
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    SWITCH = "switch"
    SELECT = "select"
    LIST = "list"
    JSON = "json"


class Absent(Enum):
    """In the place of a value: the payload has none. That is another thing than null, and than an empty text."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


def is_line(value: object) -> bool:
    """Can it be typed into one line? What cannot be seen there must not be sent from there either."""
    return value.isprintable() if isinstance(value, str) else isinstance(value, bool | int | float)


When = tuple[tuple[str, ...], object]
"""A field that is only there while the one at that path has that value."""

Entry = str | bool | int | float | None | Absent | tuple[str, ...]
"""Text as it was typed, an option that was chosen, lines of a list; None is null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """``path`` leads to it through objects. ``options`` are those of a select; ``item`` is the kind of a list's lines.

    ``default`` is `ABSENT` where the schema gives none.
    """

    path: tuple[str, ...]
    kind: Kind
    required: bool
    nullable: bool = False
    default: Any = ABSENT
    options: tuple[Any, ...] = ()
    item: Kind = Kind.TEXT
    help: str = ""
    when: tuple[When, ...] = ()

    @property
    def label(self) -> str:
        return ".".join(self.path)

    @property
    def pointer(self) -> str:
        """The JSON pointer of its value."""
        return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in self.path)
