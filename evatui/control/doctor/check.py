"""One thing that was looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Check"]


@dataclass(frozen=True, slots=True)
class Check:
    """``detail`` says what was found, ``fix`` what to do about it where that is not ``ok``."""

    name: str
    ok: bool
    detail: str
    fix: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
