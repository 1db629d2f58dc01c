"""What each simulated device answers. The n-th answer is always the same one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

__all__ = ["MODELS", "Model"]

_SWINGS: Final = (0, 3, -2, 1, -1, 0, 2, -3)
_CODES: Final = ("4006381333931", "9780306406157", "5901234123457")


class Model(Protocol):
    def answer(self, line: str) -> str | None:
        """The line that answers ``line``, None where nothing does."""
        ...


class Scale:
    """Speaks JSON lines: ``{"command": "weigh", "seq": 1}``, and says who it is when it is asked ``ID?``."""

    def __init__(self) -> None:
        self._tick = 0
        self._tare_g = 0

    def answer(self, line: str) -> str | None:
        if line == "ID?":
            return "EVA-SCALE 1"
        asked = _object(line)
        self._tick += 1
        if asked.get("command") == "tare":
            self._tare_g = self._gross_g()
        said = {
            "seq": asked.get("seq"),
            "weight_g": self._gross_g() - self._tare_g,
            "stable": True,
            "reading": self._tick,
        }
        return json.dumps(said, separators=(",", ":"))

    def _gross_g(self) -> int:
        return 19_060 + _SWINGS[self._tick % len(_SWINGS)]


class Relays:
    """Eight of them: ``ON 3``, ``OFF 3`` and ``STATE`` all answer with how they are by now, such as ``00100000``."""

    def __init__(self) -> None:
        self._on = [False] * 8

    def answer(self, line: str) -> str | None:
        word, _, number = line.partition(" ")
        if word in ("ON", "OFF"):
            if not number.isdigit() or not 1 <= int(number) <= len(self._on):
                return "ERROR"
            self._on[int(number) - 1] = word == "ON"
        elif word != "STATE":
            return "ERROR"
        return "".join("1" if on else "0" for on in self._on)


class Scanner:
    """``SCAN`` reads the next bar code."""

    def __init__(self) -> None:
        self._tick = 0

    def answer(self, line: str) -> str | None:
        if line != "SCAN":
            return None
        self._tick += 1
        return _CODES[(self._tick - 1) % len(_CODES)]


def _object(line: str) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


MODELS: Final[Mapping[str, tuple[str, int, Callable[[], Model]]]] = MappingProxyType(
    {
        "scale": ("Serial scale", 0xE7A0, Scale),
        "relay": ("Relay board", 0xE7A1, Relays),
        "scanner": ("Bar code scanner", 0xE7A2, Scanner),
    }
)
"""By name: what it is, the product number, and what answers."""
