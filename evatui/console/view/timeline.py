"""The reloads of a workspace, each from its loading to the end of what it replaced, put together from events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from evatui.kernel.model.event import Event

__all__ = ["Reload", "Timeline", "What"]

_KEPT = 5_000
_PREFIX = "/capability/"


class What(StrEnum):
    """What became of it, as far as that is known."""

    LOADING = "loading"
    PUBLISHED = "published"
    REFUSED = "refused"
    HELD = "held"
    CANARY = "canary"
    PROMOTED = "promoted"
    TAKEN_BACK = "taken back"
    CANARY_HELD = "undecided"
    ROLLED_BACK = "rolled back"
    WITHDRAWN = "withdrawn"
    """It was ordered to drain, it was disabled, or its file is gone: nothing came in its place."""
    REMOVED = "removed"
    OVERTAKEN = "overtaken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reload:
    """``source`` and ``target`` are ids of generations: what served before, and what came.

    ``at`` is when it began; ``ended_at`` when it went into service, was refused or was held; ``freed_at`` when the last
    call of what it replaced had ended. ``cause`` is the request that ordered it, empty where the disk did.
    """

    key: str
    at: str
    id: str
    what: What
    source: str = ""
    target: str = ""
    actor: str = ""
    cause: str = ""
    ended_at: str = ""
    freed_at: str = ""
    draining: bool = False
    reason: str = ""
    digest: str = ""
    diagnostics: tuple[Mapping[str, Any], ...] = ()
    cut: int = 0

    @property
    def generation(self) -> str:
        """The one that a person means by it."""
        return self.target or self.source


_ENDS: Mapping[str, What] = {
    "loaded": What.PUBLISHED,
    "reload_failed": What.REFUSED,
    "rejected": What.REFUSED,
    "approval_required": What.HELD,
    "canary_started": What.CANARY,
}
_REPLACES = frozenset({What.PUBLISHED, What.CANARY, What.PROMOTED, What.ROLLED_BACK})
_OWN: Mapping[str, What] = {
    "canary_promoted": What.PROMOTED,
    "canary_aborted": What.TAKEN_BACK,
    "canary_held": What.CANARY_HELD,
}


class Timeline:
    """The newest reloads, in the order in which they began."""

    def __init__(self) -> None:
        self._reloads: dict[str, Reload] = {}
        self._newest: dict[str, str] = {}
        """The key of the last one of each capability."""

    @property
    def reloads(self) -> Mapping[str, Reload]:
        """By key."""
        return self._reloads

    def add(self, events: Iterable[Event]) -> set[str]:
        """The keys of those that the events change or begin."""
        touched = {key for event in events if event.topic.startswith(_PREFIX) for key in self._take(event)}
        for key in list(self._reloads)[: max(0, len(self._reloads) - _KEPT)]:
            del self._reloads[key]
        return touched

    def _take(self, event: Event) -> Iterable[str]:
        what, told = event.topic.removeprefix(_PREFIX), event.payload
        capability_id = str(told.get("id") or "")
        if what == "loading":
            yield from self._begin(capability_id, event)
        elif what in _ENDS:
            yield self._end(capability_id, event, _ENDS[what])
        elif what in _OWN:
            yield self._put(_new(event, _OWN[what], ended_at=event.at))
        elif what == "draining":
            yield from self._drains(capability_id, event)
        elif what in ("reloaded", "unregistered"):
            yield from self._freed(capability_id, event, what)
        elif what == "rolled_back":
            key = self._serving(capability_id, str(told.get("generation") or ""))
            back = {"what": What.ROLLED_BACK, "actor": event.actor.id or event.actor.type.value}
            if key is not None:
                yield self._change(key, source=str(told.get("from_generation") or ""), **back)

    def _begin(self, capability_id: str, event: Event) -> Iterable[str]:
        before = self._loading(capability_id)
        if before is not None:
            yield self._change(before.key, what=What.OVERTAKEN, ended_at=event.at)
        yield self._put(_new(event, What.LOADING))

    def _end(self, capability_id: str, event: Event, what: What) -> str:
        loading, found = self._loading(capability_id), _new(event, what, ended_at=event.at)
        newest = self._reloads.get(self._newest.get(capability_id, ""))
        if what is What.CANARY and newest is not None and newest.target == found.target:
            return self._change(newest.key, what=what, source=found.source, reason=found.reason)
        if loading is None:  # it was refused where it stood, or its beginning is not known any more
            return self._put(found)
        return self._change(
            loading.key,
            what=what,
            source=found.source,
            target=found.target,
            ended_at=event.at,
            reason=found.reason,
            diagnostics=found.diagnostics,
        )

    def _loading(self, capability_id: str) -> Reload | None:
        newest = self._reloads.get(self._newest.get(capability_id, ""))
        return newest if newest is not None and newest.what is What.LOADING else None

    def _drains(self, capability_id: str, event: Event) -> Iterable[str]:
        leaves = str(event.payload.get("generation") or "")
        newest = self._reloads.get(self._newest.get(capability_id, ""))
        if newest is not None and newest.source == leaves and newest.what in _REPLACES:
            yield self._change(newest.key, draining=True)
        elif newest is not None and newest.source == leaves and newest.what is What.LOADING:
            yield self._change(newest.key, what=What.WITHDRAWN, ended_at=event.at)  # it says itself that it is off
        elif newest is None or newest.what is not What.TAKEN_BACK or newest.target != leaves:
            yield self._put(replace(_new(event, What.WITHDRAWN, ended_at=event.at), source=leaves, target=""))

    def _freed(self, capability_id: str, event: Event, what: str) -> Iterable[str]:
        gone = what == "unregistered"
        leaves = str(event.payload.get("generation" if gone else "from_generation") or "")
        for reload in reversed(self._reloads.values()):
            if reload.id == capability_id and reload.source == leaves and (reload.what is What.WITHDRAWN or not gone):
                cut = int(event.payload.get("cut") or 0)
                became = What.REMOVED if gone else reload.what
                yield self._change(reload.key, freed_at=event.at, draining=False, cut=cut, what=became)
                return

    def _serving(self, capability_id: str, generation: str) -> str | None:
        for reload in reversed(self._reloads.values()):
            if reload.id == capability_id and reload.target == generation:
                return reload.key
        return None

    def _put(self, reload: Reload) -> str:
        self._reloads[reload.key] = reload
        self._newest[reload.id] = reload.key
        return reload.key

    def _change(self, key: str, **changes: Any) -> str:
        self._reloads[key] = replace(self._reloads[key], **changes)
        return key


def _new(event: Event, what: What, **more: Any) -> Reload:
    told = event.payload
    return Reload(
        key=event.event_id,
        at=event.at,
        id=str(told.get("id") or ""),
        what=what,
        source=str(told.get("from_generation") or ""),
        target=str(told.get("generation") or ""),
        actor=event.actor.id or event.actor.type.value,
        cause=event.cause if event.cause and event.cause.startswith("req_") else "",
        reason=str(told.get("reason") or ""),
        digest=str(told.get("digest") or ""),
        diagnostics=tuple(told.get("diagnostics") or ()),
        **more,
    )
