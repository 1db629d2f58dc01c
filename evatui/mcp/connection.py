"""A connection over HTTP that has nothing to say is not kept."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["Connection"]

_HEADERS_S = 10.0
"""Within that the headers of a request are here."""


class Connection(H11Protocol):
    """Of the SDK's web server, which lets whoever sends half a request, or none, take a place for ever."""

    _before: Any = None
    """The request that had been answered at the last look, None where there was none yet."""
    _look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look = self.loop.call_later(_HEADERS_S, self._looked)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def _looked(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._before = self  # no request is this
        elif self._before is self.cycle:
            self.transport.close()
            return
        else:
            self._before = self.cycle
        self._look = self.loop.call_later(_HEADERS_S, self._looked)
