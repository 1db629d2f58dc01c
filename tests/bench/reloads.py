"""Save → first answer of the new generation, under load."""

from __future__ import annotations

import os

from tests.bench.results import Section
from tests.soak.reload import edit_under_load

__all__ = ["measure"]

_EDITS = 300
COUNT = int(os.environ.get("EVA_BENCH_CAPS", "1000"))


async def measure(rounds: int) -> list[Section]:
    """Two runs of 300 edits; ``rounds`` does not matter, every edit is a round of its own.

    ``EVA_BENCH_CAPS`` is the number of capabilities in the second one (1,000).
    """
    note = (
        f"{_EDITS} edits of a script, by rename and in place at random, under 240 calls a second. Measured from the "
        "end of the save: to the switch of the table, from where on each call that comes gets the new version, and "
        "to the end of a call that was made then."
    )
    alone = await edit_under_load(_EDITS)
    among = await edit_under_load(_EDITS, beside=COUNT - 1)
    lines = ["### Of one capability", "", *(f"- {line}" for line in alone.lines()), ""]
    lines += [f"### Of one among {COUNT:,}", "", *(f"- {line}" for line in among.lines())]
    return [Section("Reload under load", note, lines)]
