"""Why a session ended, told by whoever saw it first: the SDK only says that it did."""

from __future__ import annotations

from collections.abc import Callable

from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.text import clean_line

__all__ = ["Reason"]


class Reason:
    """``text`` is empty as long as nobody knows one. ``on_set`` hears of the first."""

    def __init__(self, on_set: Callable[[], None]) -> None:
        self.text = ""
        self.kind = ErrorKind.UNAVAILABLE
        self._on_set = on_set

    def set(self, text: str, kind: ErrorKind = ErrorKind.UNAVAILABLE) -> None:
        if not self.text:
            self.text, self.kind = clean_line(text, 400), kind
            self._on_set()

    def failed(self, server: str) -> CallFailed:
        """For a call that was under way."""
        text = self.text or "the session ended"
        return failure(self.kind, f"{server} is gone: {text}", retryable=self.kind is ErrorKind.UNAVAILABLE)
