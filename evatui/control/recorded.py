"""What may be asked about what happened: audit records, events, metrics. Each name to its answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evatui.control.audit_files import read_filter, searched
from evatui.control.failing import CommandFailed
from evatui.control.params import Params, read_number, read_text
from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.topic import is_topic_pattern, topic_matches
from evatui.kernel.records.redact import redact
from evatui.kernel.records.verify import verify
from evatui.runtime import AUDIT_DIR, Runtime

__all__ = ["Recorded"]

_TAIL = 20
_MAX_TAIL = 10_000
_MAX_PAGE = 1_000
_WRITTEN_WITHIN_S = 5.0
_EVERY_TOPIC = "/**"

Answer = Awaitable[dict[str, Any]]


class Recorded:
    """Who follows asks once for the newest ``limit``, and then again and again for what came after ``seq`` of the
    answer before (``since`` for events, ``since_seq`` for records): the oldest first, at most 1,000 at once.
    ``dropped`` is how many of those are not kept any longer, ``more`` whether there are others."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.answers: Mapping[str, Callable[[Params, Actor], Answer]] = {
            "audit.tail": self._audit,
            "audit.query": self._audit,
            "audit.verify": self._verify,
            "events": self._events,
            "metrics": self._metrics,
        }

    async def _audit(self, params: Params, actor: Actor) -> dict[str, Any]:
        wanted = read_filter(params, self._runtime.clock.now())
        audit, since = self._runtime.audit, read_number(params, "since_seq")
        if since is not None:
            records, dropped = audit.since(since)
            page = records[:_MAX_PAGE]
            found = [record for record in page if wanted is None or wanted.matches(record)]
            seq = page[-1]["seq"] if page else since
            return {"records": found, "seq": seq, "dropped": dropped, "more": len(records) > len(page)}
        await self._written()
        limit = max(1, min(read_number(params, "limit") or _TAIL, _MAX_TAIL))
        last = audit.last_seq  # before the files are read: what is written meanwhile comes after it, or is found twice
        if wanted is None:
            data: dict[str, Any] = {"records": await asyncio.to_thread(audit.tail, limit)}
        else:
            data = await asyncio.to_thread(searched, self._runtime.layout.state_dir / AUDIT_DIR, wanted, limit)
        return {**data, "seq": max([last, *(record["seq"] for record in data["records"])])}

    async def _written(self) -> None:
        """Whoever asks finds what was done before, though its record was only on its way to the log; but a disk that
        hangs is looked at all the same."""
        with contextlib.suppress(TimeoutError, CallFailed):
            async with asyncio.timeout(_WRITTEN_WITHIN_S):
                await self._runtime.registry.journal.written(lambda: None)

    async def _verify(self, params: Params, actor: Actor) -> dict[str, Any]:
        directory = self._runtime.layout.state_dir / AUDIT_DIR
        try:
            return (await asyncio.to_thread(verify, directory, self._runtime.seal)).to_json()
        except OSError as problem:
            message = f"the audit log cannot be read: {problem.strerror}"
            raise CommandFailed(ErrorKind.AUDIT_UNAVAILABLE, message) from None

    async def _events(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``live`` is false where they are those of a runtime that was started for the moment."""
        pattern, since = _pattern(params), read_number(params, "since")
        limit = max(1, min(read_number(params, "limit") or _MAX_PAGE, _MAX_PAGE))
        events, dropped = self._runtime.bus.since(since or 0)
        found = [event for event in events if topic_matches(pattern, event.topic)]
        shown = found[-limit:] if since is None else found[:limit]
        more = len(found) > len(shown)
        newest = events[-1].seq if events else since or 0
        return {
            "events": [redact(event.to_json()) for event in shown],
            "seq": shown[-1].seq if more and since is not None else newest,
            "dropped": dropped,
            "more": more,
            "live": self._runtime.watch is not None,
        }

    async def _metrics(self, params: Params, actor: Actor) -> dict[str, Any]:
        return {"text": await asyncio.to_thread(self._runtime.metrics.text)}


def _pattern(params: Params) -> str:
    pattern = read_text(params, "topic")
    if pattern is None:
        return _EVERY_TOPIC
    if not is_topic_pattern(pattern):
        raise CommandFailed(
            ErrorKind.INVALID_INPUT,
            f"{clean_line(pattern, 80)} is no topic: /capability/*, /repo/**",
        )
    return pattern
