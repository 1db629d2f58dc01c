"""Why something happens: the request that ordered it, or the event that it began with.

Kept beside the task that does the work, and handed on to the tasks that it starts, so that nobody between has to
carry it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["begins", "cause_of", "ordered_by", "request"]

_request: ContextVar[str | None] = ContextVar("request", default=None)
_begun: ContextVar[tuple[str, str]] = ContextVar("begun", default=("", ""))


@contextmanager
def ordered_by(request_id: str) -> Iterator[None]:
    """What happens meanwhile, and in tasks that are started meanwhile, was ordered by this request."""
    token = _request.set(request_id)
    try:
        yield
    finally:
        _request.reset(token)


def request() -> str | None:
    """The request that ordered what is done now, None where nobody did."""
    return _request.get()


def begins(subject: str, event_id: str) -> None:
    """Something happens to ``subject`` with this event, and what this task tells of it next is a part of that."""
    _begun.set((subject, event_id))


def cause_of(subject: str) -> str | None:
    """An event or request id; None for what begins by itself."""
    name, event_id = _begun.get()
    return request() or (event_id if name == subject else None)
