"""Measures and writes RESULTS.md; with names, only those measurements, which are printed and not written."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.bench import audit, calls, console, hosts, manifests, mcp_calls, paint, recorded, reloads, tables, words
from tests.bench.results import Section, document

_RESULTS = Path(__file__).with_name("RESULTS.md")
_MEASUREMENTS: dict[str, Callable[[int], Awaitable[list[Section]]]] = {
    "paint": paint.measure,
    "words": words.measure,
    "calls": calls.measure,
    "recorded": recorded.measure,
    "hosts": hosts.measure,
    "audit": audit.measure,
    "mcp": mcp_calls.measure,
    "tables": tables.measure,
    "reloads": reloads.measure,
    "manifests": manifests.measure,
    "console": console.measure,
}


def _name(text: str) -> str:
    if text not in _MEASUREMENTS:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(_MEASUREMENTS)}")
    return text


async def _measure(names: list[str], rounds: int) -> list[Section]:
    sections = []
    for name in names:
        for section in await _MEASUREMENTS[name](rounds):
            print(section.text(), flush=True)
            sections.append(section)
    return sections


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    options.add_argument("names", nargs="*", type=_name, metavar="NAME", help=", ".join(_MEASUREMENTS))
    options.add_argument("--rounds", type=int, default=15, help="rounds of each comparison (15)")
    given = options.parse_args()
    sections = asyncio.run(_measure(given.names or list(_MEASUREMENTS), given.rounds))
    if not given.names:
        command = " ".join(["python -m tests.bench", *sys.argv[1:]])
        _RESULTS.write_text(document(sections, command), encoding="utf-8")


if __name__ == "__main__":
    main()
