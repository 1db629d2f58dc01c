"""Save → first answer of the new generation, under load."""

from __future__ import annotations

from tests.bench.results import Section
from tests.soak.reload import edit_under_load

__all__ = ["measure"]


async def measure(rounds: int) -> list[Section]:
    """One run of 100 edits; ``rounds`` does not matter, every edit is a round of its own."""
    report = await edit_under_load()
    note = (
        "100 edits of a script, by rename and in place at random, under 240 calls a second. Measured from the end "
        "of the save to the end of the first answer of the new version."
    )
    return [Section("Reload under load", note, [f"- {line}" for line in report.lines()])]
