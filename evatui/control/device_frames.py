"""What devices say, as rows that people read: in hexadecimal, as text, or both. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

__all__ = ["Form", "frame_rows", "printable"]

_OFFSET: Final = 6
"""Cells of the number of the first byte of a row, and the gap after it."""


_PRINTED: Final = bytes(byte if 0x20 <= byte < 0x7F else ord(".") for byte in range(256))


class Form(StrEnum):
    MIXED = "mixed"
    HEX = "hex"
    ASCII = "ascii"

    @property
    def next(self) -> Form:
        forms = list(Form)
        return forms[(forms.index(self) + 1) % len(forms)]


def printable(data: bytes) -> str:
    """A character a byte; what is no ASCII is a dot."""
    return data.translate(_PRINTED).decode("ascii")


def frame_rows(data: bytes, form: Form, width: int) -> list[str]:
    """``data`` in rows of at most ``width`` cells; at least one byte stands in each."""
    if form is Form.ASCII:
        per = max(1, width)
        return [printable(data[at : at + per]) for at in range(0, len(data), per)]
    cells = 4 if form is Form.MIXED else 3
    per = max(1, min(16, (width - _OFFSET - (form is Form.MIXED)) // cells))
    return [_row(data[at : at + per], at, per, form) for at in range(0, len(data), per)]


def _row(data: bytes, at: int, per: int, form: Form) -> str:
    told = f"{at:04x}  {data.hex(' ')}"
    return f"{told:<{_OFFSET + 3 * per}} {printable(data)}" if form is Form.MIXED else told
