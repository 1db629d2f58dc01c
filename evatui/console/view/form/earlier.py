"""Earlier calls as rows to choose from."""

from __future__ import annotations

import json
from collections.abc import Sequence

from evatui.console.view.form.draft import Earlier
from evatui.console.view.ink import Ink, line
from evatui.console.view.table import Column, Row
from evatui.console.view.words import Look, clock

__all__ = ["EARLIER_COLUMNS", "earlier_rows"]

EARLIER_COLUMNS = (
    Column(title="WHEN", width=8),
    Column(title="OUTCOME", width=12),
    Column(title="PAYLOAD", width=20, flex=1),
)


def earlier_rows(earlier: Sequence[Earlier], look: Look) -> list[Row]:
    """The newest first; the key is its place in ``earlier``."""
    return [
        Row(
            key=str(place),
            cells=(
                line((clock(call.at, look), Ink.DIM)),
                line((call.outcome, Ink.OK if call.well else Ink.BAD)),
                line(json.dumps(call.payload, ensure_ascii=False)[:200]),
            ),
            order=(),
        )
        for place, call in reversed(list(enumerate(earlier)))
    ]
