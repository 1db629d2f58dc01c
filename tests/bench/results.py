"""Results as text: one section a measurement, and the machine that they come from."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.arms import Comparison

__all__ = ["Section", "compared", "document"]

_LIBRARIES = ("textual", "lupa", "jsonschema-rs", "ormsgpack", "orjson", "watchfiles")


@dataclass(frozen=True)
class Section:
    title: str
    note: str
    lines: Sequence[str]

    def text(self) -> str:
        return "\n".join([f"## {self.title}", "", self.note, "", *self.lines, ""])


def compared(
    comparisons: Sequence[Comparison], unit: str, scale: float, digits: int = 1, ratio_digits: int = 2
) -> list[str]:
    """A table of arms. ``scale`` turns seconds into ``unit``."""
    base = comparisons[0].name
    return [
        f"| arm | {unit}: median [quartiles] | ratio to {base} |",
        "|---|---|---|",
        *(f"| {c.name} | {c.seconds.shown(scale, digits)} | {c.ratio.shown(1, ratio_digits)} |" for c in comparisons),
    ]


def document(sections: Sequence[Section], command: str) -> str:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES)
    machine = f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores"
    head = [
        "# Results",
        "",
        f"From `{command}` on {machine}; {versions}.",
        "",
        "Absolute figures move by a factor of two on a shared machine. The ratios were taken round by round",
        "between arms that ran side by side.",
        "",
    ]
    return "\n".join([*head, *(section.text() for section in sections)])
