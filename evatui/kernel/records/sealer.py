"""Keeps the signed head of a log close behind its records, in a thread of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

__all__ = ["Sealer"]

_BEHIND_S = 0.5
"""How long records wait for a signature: with the signing itself it stays well under a second."""


class Sealer:
    """``sign`` signs the head as it is now, and may raise `OSError`: that is tried again, and `problem` says why."""

    def __init__(self, sign: Callable[[], None]) -> None:
        self.problem = ""
        self._sign = sign
        self._news = threading.Event()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="eva-seal", daemon=True)
        self._thread.start()

    def tell(self) -> None:
        """There are records that the head does not know of. Cheap."""
        if not self._news.is_set():
            self._news.set()

    def seal(self) -> None:
        """Signs now."""
        try:
            self._sign()
        except OSError as error:
            self.problem = os.strerror(error.errno).lower() if error.errno else str(error)
            self._news.set()
        else:
            self.problem = ""

    def close(self, wait_s: float) -> None:
        """Signs nothing any more; waits for a signature under way. Idempotent."""
        self._ending.set()
        self._news.set()
        self._thread.join(wait_s)

    def _run(self) -> None:
        while not self._ending.is_set():
            self._news.wait()
            if self._ending.wait(_BEHIND_S):
                return
            self._news.clear()
            self.seal()
