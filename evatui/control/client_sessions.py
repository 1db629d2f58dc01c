"""Who is connected as an MCP client, by the word of what serves them: for the console and for ``eva mcp list``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evatui.control.params import Params, read_short
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.text import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ClientRow", "ClientSessions", "on_line"]

_MAX = 256
_FORGOTTEN_S = 1800.0
_WORD = 80

_line: ContextVar[object | None] = ContextVar("line", default=None)


@contextmanager
def on_line(line: object | None) -> Iterator[None]:
    """What is asked meanwhile comes over the connection ``line``, and a session that it tells of ends with that."""
    token = _line.set(line)
    try:
        yield
    finally:
        _line.reset(token)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRow:
    """``transport`` is ``stdio`` or ``http``, ``client`` its own name and version, ``protocol`` the revision that it
    speaks. ``last_call`` is the tool that it called last, empty where it called none; ``failed``: that was an error."""

    id: str
    principal: str
    transport: str
    client: str
    protocol: str
    since: str
    last_seen: str
    calls: int = 0
    last_call: str = ""
    last_call_at: str = ""
    failed: bool = False


@dataclass(slots=True)
class _Kept:
    """Every call of a client comes by here, and consoles look now and then: what they see is made when they do."""

    row: ClientRow
    words: tuple[str, ...]
    line: object | None
    seen: float
    seen_at: dt.datetime
    calls: int = 0
    last_call: str = ""
    last_call_at: dt.datetime | None = None
    failed: bool = False

    def shown(self) -> ClientRow:
        return replace(
            self.row,
            last_seen=rfc3339(self.seen_at),
            calls=self.calls,
            last_call=self.last_call,
            last_call_at=rfc3339(self.last_call_at) if self.last_call_at is not None else "",
            failed=self.failed,
        )


class ClientSessions:
    """At most 256, the one that was silent longest goes first; one that is silent for half an hour goes as well."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    @property
    def rows(self) -> tuple[ClientRow, ...]:
        """The one that came first first."""
        old = self._clock.monotonic() - _FORGOTTEN_S
        for key in [key for key, kept in self._kept.items() if kept.seen < old]:
            del self._kept[key]
        return tuple(sorted((kept.shown() for kept in self._kept.values()), key=lambda row: (row.since, row.id)))

    def heard(self, params: Params, principal: str) -> str:
        """A client asks: ``params.session`` is ``{id, transport, client, protocol}``. Its id, empty without one."""
        told = params.get("session")
        if not isinstance(told, Mapping):
            return ""
        key = read_short(told, "id") or ""
        if not key:
            return ""
        words = tuple(_word(told, name) for name in ("transport", "client", "protocol"))
        known, now, seen = self._kept.get(key), self._clock.now(), self._clock.monotonic()
        if known is None or known.row.principal != clean_line(principal, 128):
            self._make_room()
            row = _row(key, principal, rfc3339(now), *words)
            known = self._kept[key] = _Kept(row, words, _line.get(), seen, now)
        elif known.words != words:
            known.row, known.words = _row(key, principal, known.row.since, *words), words
        known.line, known.seen, known.seen_at = _line.get(), seen, now
        return key

    def called(self, session: str, tool: str, *, failed: bool) -> None:
        known = self._kept.get(session)
        if known is not None:
            known.calls += 1
            known.last_call, known.failed = tool, failed
            known.last_call_at = known.seen_at = self._clock.now()

    def left(self, session: str) -> None:
        self._kept.pop(session, None)

    def hung_up(self, line: object) -> None:
        """The connection is gone, and with it whoever was there over it."""
        for key in [key for key, kept in self._kept.items() if kept.line is line]:
            del self._kept[key]

    def _make_room(self) -> None:
        while len(self._kept) >= _MAX:
            del self._kept[min(self._kept, key=lambda key: self._kept[key].seen)]


def _row(key: str, principal: str, since: str, transport: str, client: str, protocol: str) -> ClientRow:
    return ClientRow(
        id=clean_line(key, 64),
        principal=clean_line(principal, 128),
        transport=clean_line(transport, _WORD),
        client=clean_line(client, _WORD),
        protocol=clean_line(protocol, _WORD),
        since=since,
        last_seen=since,
    )


def _word(told: Mapping[str, Any], name: str) -> str:
    """As it came, of one that is kept no more than there is to see of it."""
    value = told.get(name)
    return value[: _WORD + 1] if isinstance(value, str) else ""
