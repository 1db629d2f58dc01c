"""Untrusted text made safe to show.

A Lua error, a file name or a YAML value may carry terminal control sequences or bidirectional
overrides (CVE-2021-25743 is this bug in another tool). Text is cleaned once, where it enters a
message, a diagnostic or a snapshot, so that no view has to remember to.
"""

from __future__ import annotations

import re

__all__ = ["clean", "clean_line", "cut"]

_KEPT = {0x09, 0x0A}
_INVISIBLE = (
    set(range(0x20))
    | set(range(0x7F, 0xA0))
    | {0x00AD, 0x061C, 0x180E, 0xFEFF}
    | set(range(0x200B, 0x2010))
    | set(range(0x2028, 0x202F))
    | set(range(0x2060, 0x2070))
    | set(range(0xFFF9, 0xFFFC))
    | set(range(0xE0000, 0xE0080))
) - _KEPT
_TABLE = dict.fromkeys(_INVISIBLE, "\ufffd")
_TABLE |= {code: chr(0x2400 + code) for code in range(0x20) if code not in _KEPT}
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str, limit: int = 4000) -> str:
    """``text`` without control, bidirectional or invisible characters; newline and tab are kept.

    Longer than ``limit`` characters is cut, and says so with an ellipsis.
    """
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    return cut(_SURROGATE.sub("\ufffd", text[: limit + 1].replace("\r\n", "\n")).translate(_TABLE), limit)


def clean_line(text: str, limit: int = 400) -> str:
    """Like `clean`, for one-line fields: a line break is shown as ``⏎`` and a tab as a space."""
    return clean(text, limit).replace("\n", "⏎").replace("\t", " ")


def cut(text: str, limit: int) -> str:
    """``text`` of at most ``limit`` characters, its end replaced by ``…`` where it was longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
