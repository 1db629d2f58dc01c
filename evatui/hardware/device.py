"""One device over time: its state, and how often it was plugged in. Pure; time is handed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from evatui.hardware.fix import borrowed_fix
from evatui.hardware.identity import Identity
from evatui.hardware.lifecycle import HELD, JUDGED, THERE, DeviceState, check_edge
from evatui.hardware.moment import Moment
from evatui.hardware.rules import Verdict
from evatui.kernel.storage.device_book import KeptDevice, Link

__all__ = ["DEBOUNCE_S", "PATIENCE_S", "TTL_S", "Change", "Device"]

DEBOUNCE_S: Final = 0.3
"""Whatever is plugged in shakes for a moment."""
TTL_S: Final = 30.0
"""So long is one that went away expected back."""
PATIENCE_S: Final = 2.0
"""So long after it was plugged in, whoever sets its permissions may still be at it."""
BORROWED_S: Final = 3.0
"""What goes away sooner after it was plugged in was perhaps taken by a program, and not by a hand."""
_MISSES = 2
"""A single look may miss a device that is there."""
_MAX_LINKS = 32


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to ``device``: ``old`` and ``new`` are the same where it was only plugged in anew meanwhile."""

    device: Device
    old: DeviceState
    new: DeviceState
    generation: int
    cause: str
    at: str
    known: bool = False
    """Nothing happened: it was like that before the runtime started."""


class Device:
    """Every change goes to ``told``, in order. ``kept`` is what is remembered of it from earlier."""

    def __init__(self, identity: Identity, told: Callable[[Change], None], kept: KeptDevice | None = None) -> None:
        self.identity = identity
        self.state = DeviceState.ABSENT
        self.reason = ""
        self.fix = ""
        self.since = ""
        self.due: float | None = None
        """When `pass_time` has something to do by itself."""
        self._told = told
        self._misses = 0
        self._plugged = 0.0
        self._kept = kept
        self._known = False

    @property
    def generation(self) -> int:
        """How often it was plugged in, over all runs: it never goes back."""
        return self._kept.generation if self._kept is not None else 0

    @property
    def kept(self) -> KeptDevice | None:
        """What is to be remembered of it; None as long as it has not settled for the first time."""
        return self._kept

    def seen(self, identity: Identity, judge: Callable[[Identity], Verdict], now: Moment) -> None:
        """A source sees it, as ``identity`` says, and ``judge`` says whether it may be used."""
        anew = identity.sighting.attachment != self.identity.sighting.attachment
        self.identity = identity
        self._misses = 0
        match self.state:
            case DeviceState.DISABLED:
                self._go(DeviceState.ABSENT, "the policy allows devices again", now)
                self.seen(identity, judge, now)
                return
            case DeviceState.ABSENT if self._was_there():
                self._plugged = now.monotonic - PATIENCE_S
                self._known = True
                self._go(DeviceState.PRESENT, "it was there before", now)
            case DeviceState.ABSENT | DeviceState.LOST:
                self._settle("plugged in", now)
            case DeviceState.SETTLING if anew:
                self.due = now.monotonic + DEBOUNCE_S
            case DeviceState.SETTLING if self.due is not None and now.monotonic >= self.due:
                self.due = None
                self._attach(now)
                self._go(DeviceState.PRESENT, "settled", now)
            case state if state in HELD and (refused := _refused(judge(identity))):
                self._go(DeviceState.PRESENT, refused, now)
            case state if anew and state in HELD:
                self.gone("plugged in anew", now)
                self._settle("plugged in", now)
            case state if anew and state in THERE:
                self._detach("plugged in anew", now)
                self._plugged = now.monotonic
                self._attach(now)
                self._tell(state, "plugged in anew", now)
        self._judge(judge(identity), now)

    def missed(self, now: Moment) -> None:
        """Its source looked, and does not see it: gone, if that is so twice in a row."""
        self._misses += 1
        if self._misses >= _MISSES:
            self.gone("unplugged", now)

    def gone(self, cause: str, now: Moment) -> None:
        """It is certain that it went away. One that has a name is expected back for `TTL_S`."""
        if self.state is DeviceState.SETTLING:
            self.due = None
            self._go(DeviceState.ABSENT, cause, now)
        elif self.state in THERE:
            self._detach(cause, now)
            expected = self.identity.logical_id is not None
            self.due = now.monotonic + TTL_S if expected else None
            self._go(DeviceState.LOST if expected else DeviceState.ABSENT, cause, now)
            if now.monotonic - self._plugged < BORROWED_S:
                self.fix = borrowed_fix(self.identity.sighting.bus, self.identity.sighting.vendor)

    def take(self, state: DeviceState, cause: str, now: Moment) -> None:
        """Whoever has it says how far it has come: one of `HELD`, or `PRESENT` when it is let go of."""
        if state is not self.state:
            self._go(state, cause, now)

    def disable(self, now: Moment) -> None:
        """The policy wants no devices at all."""
        if self.state is not DeviceState.DISABLED:
            if self.state in THERE:
                self._detach("disabled", now)
            self.due = None
            self._go(DeviceState.DISABLED, "the policy allows no devices", now)

    def pass_time(self, now: Moment) -> None:
        if self.state is DeviceState.LOST and self.due is not None and now.monotonic >= self.due:
            self.due = None
            self._go(DeviceState.ABSENT, "it did not come back", now)

    def _judge(self, verdict: Verdict, now: Moment) -> None:
        if self.state is not DeviceState.PRESENT and self.state not in JUDGED:
            return
        patience = self._plugged + PATIENCE_S
        if verdict.state is DeviceState.NO_ACCESS and self.state is DeviceState.PRESENT and now.monotonic < patience:
            self.due = patience
            return
        self.due = None
        if verdict.state is not self.state:
            self._go(verdict.state, verdict.reason, now)
        self.reason, self.fix = verdict.reason, verdict.fix
        self._known = False

    def _settle(self, cause: str, now: Moment) -> None:
        self.due = now.monotonic + DEBOUNCE_S
        self._plugged = now.monotonic
        self._go(DeviceState.SETTLING, cause, now)

    def _was_there(self) -> bool:
        kept = self._kept
        shown = self.identity.sighting.attachment
        return kept is not None and bool(shown) and kept.attachment == shown and not kept.links[-1].detached

    def _attach(self, now: Moment) -> None:
        number, shown = self.generation + 1, self.identity.sighting.attachment
        before = self._kept or KeptDevice(
            fingerprint=self.identity.fingerprint, generation=0, attachment="", first_seen=now.at, last_seen=now.at
        )
        links = (*_closed(before.links, "unknown", now.at), Link(number, now.at))[-_MAX_LINKS:]
        self._kept = replace(before, generation=number, attachment=shown, last_seen=now.at, links=links)

    def _detach(self, reason: str, now: Moment) -> None:
        if self._kept is not None:
            self._kept = replace(self._kept, last_seen=now.at, links=_closed(self._kept.links, reason, now.at))

    def _go(self, new: DeviceState, cause: str, now: Moment) -> None:
        check_edge(self.state, new)
        old, self.state, self.since = self.state, new, now.at
        self.reason, self.fix = (cause, "") if new not in THERE else ("", "")
        self._tell(old, cause, now)

    def _tell(self, old: DeviceState, cause: str, now: Moment) -> None:
        self._told(Change(self, old, self.state, self.generation, cause, now.at, self._known))


def _refused(verdict: Verdict) -> str:
    """Why whoever has it must let go of it. That it could not be opened once more is no reason."""
    return "" if verdict.state in (DeviceState.AUTHORIZED, DeviceState.NO_ACCESS) else verdict.reason


def _closed(links: tuple[Link, ...], reason: str, at: str) -> tuple[Link, ...]:
    """With the last one ended, if nobody has written down its end yet."""
    if not links or links[-1].detached:
        return links
    return (*links[:-1], replace(links[-1], detached=at, reason=reason))
