"""What a device said, on the terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from evatui.cli.screen import Screen
from evatui.control.device_frames import Form, frame_rows, printable

__all__ = ["Shown", "pattern_of"]

_WIDTH = 70
_ARROWS = {"rx": "←", "tx": "→"}


@dataclass(frozen=True, slots=True)
class Shown:
    form: Form
    pattern: re.Pattern[str] | None

    def line(self, screen: Screen, heard: Mapping[str, Any]) -> None:
        data = bytes.fromhex(heard["hex"])
        if self.pattern is not None and not (self.pattern.search(printable(data)) or self.pattern.search(heard["hex"])):
            return
        first, *rest = frame_rows(data, self.form, _WIDTH) or [""]
        screen.line(f"{heard['at']} {_ARROWS[heard['direction']]} {first}")
        for row in rest:
            screen.line(f"{'':<{len(heard['at'])}}   {row}")
        if heard["size"] > len(data):
            screen.note(f"· {heard['size'] - len(data)} bytes more")

    def all(self, screen: Screen, data: Mapping[str, Any]) -> None:
        badge, totals = "SIM  " if data["simulated"] else "", data["totals"]
        said = f"{totals['rx_bytes']} bytes received, {totals['tx_bytes']} sent"
        lost = [f"{totals[name]} {name}" for name in ("discarded", "gaps") if totals[name]]
        screen.line("  ".join([f"{badge}{data['logical_id'] or data['key']}", data["state"], said, *lost]))
        high = [name.upper() for name, level in data["lines"].items() if level]
        if data["lines"]:
            screen.line(f"lines: {' '.join(high) or 'all low'}", "dim")
        for heard in data["heard"]:
            self.line(screen, heard)


def pattern_of(text: str | None) -> re.Pattern[str] | None:
    try:
        return re.compile(text) if text is not None else None
    except re.error as problem:
        raise click.BadParameter(f"it is no regular expression: {problem}", param_hint="--match") from None
