"""What each simulated device answers. The n-th answer is always the same one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

__all__ = ["MODELS", "REPORTING", "Model", "Reporting"]

_SWINGS: Final = (0, 3, -2, 1, -1, 0, 2, -3)
_CODES: Final = ("4006381333931", "9780306406157", "5901234123457")


class Model(Protocol):
    def answer(self, line: str) -> str | None:
        """The line that answers ``line``, None where nothing does."""
        ...


class Reporting(Protocol):
    descriptor: bytes
    """As a HID device has one."""

    def reports(self, report: bytes) -> list[bytes]:
        """The reports that answer ``report``, each with its number first."""
        ...

    def set_feature(self, report: bytes) -> None: ...

    def feature(self, number: int) -> bytes | None:
        """The feature report of that number, with it first; None where there is none."""
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


class Panel:
    """Eight lamps behind HID reports of 4 bytes. ``01 lamp on`` lights or darkens one of them, and a report tells the
    lamps that are lit, and a number that counts: ``01 lit n 00``. ``01 ff count`` presses its button so often. How
    bright they are is its feature report: ``02 level``."""

    descriptor = bytes.fromhex(
        "0600ff 0901 a101 8501 1500 26ff00 7508 9504 0902 8102 9504 0903 9102 8502 9501 0904 b102 c0"
    )

    def __init__(self) -> None:
        self._lit = 0
        self._level = 255
        self._tick = 0

    def reports(self, report: bytes) -> list[bytes]:
        lamp, on = report[1], report[2]
        if lamp == 0xFF:
            return [self._told() for _ in range(on)]
        if lamp < 8:
            self._lit = self._lit | 1 << lamp if on else self._lit & ~(1 << lamp)
        return [self._told()]

    def set_feature(self, report: bytes) -> None:
        self._level = report[1]

    def feature(self, number: int) -> bytes | None:
        return bytes([number, self._level]) if number == 2 else None

    def _told(self) -> bytes:
        self._tick = (self._tick + 1) % 256
        return bytes([1, self._lit, self._tick, 0, 0])


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
REPORTING: Final[Mapping[str, tuple[str, int, Callable[[], Reporting]]]] = MappingProxyType(
    {"panel": ("Lamp panel", 0xE7A3, Panel)}
)
"""Those that are HID devices."""
