"""A standard stream that is kept."""

from __future__ import annotations

import io

__all__ = ["Stream"]


class Stream(io.TextIOWrapper):
    """As of a terminal, or of what reads another encoding."""

    def __init__(self, encoding: str = "utf-8", *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    @property
    def said(self) -> str:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode(self.encoding)
