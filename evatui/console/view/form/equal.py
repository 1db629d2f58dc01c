"""What a form comes to: the payload, what is wrong with it, and the command that calls with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evatui.console.view.cli import command_line
from evatui.console.view.ink import Ink, Line, line, wrap

__all__ = ["equal_lines"]


def equal_lines(
    params: Mapping[str, Any], problems: Sequence[str], width: int, *, with_payload: bool
) -> Sequence[Line]:
    """At most seven, however long the payload is."""
    wrong = [line((f"✗ {problem}", Ink.BAD)) for problem in problems[:2]]
    flat = json.dumps(params["payload"], ensure_ascii=False)
    shown = list(wrap(line(flat[: 3 * width]), width))[:2] if with_payload else []
    equal = command_line("capability.call", params)
    return [*wrong, *shown, *list(wrap(line((equal[: 4 * width], Ink.DIM)), width))[:3]]
