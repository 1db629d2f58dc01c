"""How far a call has come, by its handler's own word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Progress"]


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total``, or of nobody knows how much where that is None; ``message`` is one cleaned line.

    Neither number is negative, and ``done`` is never more than ``total``.
    """

    done: int | float
    total: int | float | None = None
    message: str = ""

    @property
    def fraction(self) -> float | None:
        """From 0 to 1; None where the total is not known."""
        if self.total is None:
            return None
        return self.done / self.total if self.total else 1.0

    @property
    def complete(self) -> bool:
        return self.done == self.total

    def to_json(self) -> dict[str, Any]:
        return {"done": self.done, "total": self.total, "message": self.message}

    def in_words(self) -> str:
        """``40 %  4 of 10  reading src``. Only what is complete is 100 %."""
        if self.fraction is None:
            told = f"{_plain(self.done)} done"
        else:
            told = f"{int(self.fraction * 100)} %  {_plain(self.done)} of {_plain(self.total)}"
        return f"{told}  {self.message}".rstrip()


def _plain(number: int | float | None) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.6g}"
