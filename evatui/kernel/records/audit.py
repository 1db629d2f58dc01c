"""The audit log: what happened, in a chain that shows when somebody changed it.

A record is accepted when the operating system has it (mode ``write``: it survives the death of this
process), or when the disk has it (mode ``durable``). What cannot be written down does not run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.records.chain import Accept, Chain
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.groups import Acceptance
from evatui.kernel.records.head import Seal
from evatui.kernel.records.judging import claim_of
from evatui.kernel.records.outlet import Outlet
from evatui.kernel.records.pen import Hook, Ledger, Pen, reason_of, unavailable
from evatui.kernel.records.segments import RECENT, read_tail
from evatui.kernel.records.window import Window
from evatui.kernel.workspace.settings import AuditMode, AuditSettings

__all__ = ["GIVE_UP_S", "RESERVED_BYTES", "AuditLog", "Reservation"]

RESERVED_BYTES = 65_536
"""Free disk space that must be there for each call under way."""
GIVE_UP_S = 5.0
"""How long a sink may take; then it hangs, and nothing runs until it comes back."""
_RING_BYTES = 16 * 1024 * 1024
_ENDED = "this reservation has ended"


class Reservation:
    """A call's right to write its end down. Compared by identity."""

    __slots__ = ()


class AuditLog:
    """Thread-safe. Everything but `begin`, `release`, `since` and `health` does file IO: in a thread, never on an
    event loop."""

    def __init__(
        self,
        directory: Path | None,
        clock: Clock,
        ledger: Callable[[Accept], Ledger],
        *,
        seal: Seal | None = None,
        outlet: Outlet | None = None,
        groups: bool = False,
        give_up_s: float = GIVE_UP_S,
    ) -> None:
        self._directory = directory
        self._clock = clock
        self._unwell = ("", "")
        self._ring: Window[bytes] = Window(RECENT, _RING_BYTES)
        self._ring_lock = threading.Lock()
        self._reservations: set[Reservation] = set()
        self._pen = Pen(ledger, self._keep, seal=seal, outlet=outlet, groups=groups, give_up_s=give_up_s)

    @classmethod
    def open(
        cls,
        directory: Path,
        settings: AuditSettings,
        clock: Clock,
        *,
        seal: Seal | None = None,
        outlet: Outlet | None = None,
        give_up_s: float = GIVE_UP_S,
    ) -> AuditLog:
        """Continue the newest file of ``directory``, or begin one: full at ``rotate_bytes``, ``keep_files`` kept.

        A line that a crash cut off is removed, and each call that announced an effect and never ended becomes
        ``call.unknown``; records say so, and also where the log is not what its head, signed with ``seal``, vouches
        for. ``outlet`` gets each record as well. Raises ``AuditUnavailable`` where the directory cannot be used.
        """
        try:
            claim = claim_of(seal) if seal else None
        except OSError:
            claim = None  # nothing can be signed either, and `health` says so
        try:
            log = cls(
                directory,
                clock,
                lambda accept: Chain(directory, settings, clock, accept, claim),
                seal=seal,
                outlet=outlet,
                groups=settings.mode is AuditMode.DURABLE,
                give_up_s=give_up_s,
            )
        except OSError as error:
            raise unavailable(reason_of(error)) from None
        if claim and claim.head:
            log._pen.seal()  # before the first record: none may stand behind a clean head
        log.look()
        return log

    @property
    def on_append(self) -> Hook | None:
        """Called with each accepted record, in the thread that wrote it and outside the lock: it must be cheap, and
        must not raise."""
        return self._pen.on_append

    @on_append.setter
    def on_append(self, hook: Hook | None) -> None:
        self._pen.on_append = hook

    @property
    def last_seq(self) -> int:
        """The number of the newest record, 0 where there is none."""
        return self._ring.last

    @property
    def health(self) -> tuple[bool, str, str]:
        """``(ok, word, detail)``. The words are ``unavailable`` (nothing runs), ``damaged`` (records are gone or not
        what was signed) and ``unsealed`` (the head cannot be signed)."""
        return self._pen.health

    @property
    def unwell_since(self) -> str:
        """Since when `health` is as it is (RFC 3339), as far as somebody looked; empty where all is well."""
        ok, word, _ = self._pen.health
        if ok or word != self._unwell[0]:
            self._unwell = ("", "") if ok else (word, rfc3339(self._clock.now()))
        return self._unwell[1]

    def begin(self) -> Reservation:
        """Reserve the room for a call's records. Raises ``AuditUnavailable``: then nothing may run.

        Cheap, and without IO: `look` finds out beforehand whether there is anything to write to.
        """
        if self._pen.refusal:
            raise unavailable(self._pen.refusal)
        reservation = Reservation()
        self._reservations.add(reservation)  # one step of the interpreter: needs no lock
        return reservation

    def look(self) -> None:
        """To be called once a second: has the disk room, and is the file still the one that was opened?

        A file or folder that was deleted or replaced is made anew, and the chain runs on in it behind an
        ``audit.reopened`` record; `health` stays ``damaged``. Where that fails, or the sink hangs, calls are refused
        until it succeeds.
        """
        self._pen.look(RESERVED_BYTES * (len(self._reservations) + 1))

    def release(self, reservation: Reservation) -> None:
        """Give a reservation back without a record; one that has ended already is no error."""
        self._reservations.discard(reservation)

    def intent(self, reservation: Reservation, record: Mapping[str, Any]) -> None:
        """Announce an effectful host call: ``host_calls`` names it, ``request_id`` whose it is.

        Raises ``AuditUnavailable``: then the effect may not happen.
        """
        if reservation not in self._reservations:
            raise ValueError(_ENDED)
        self._pen.append(Code.EFFECT_INTENT, Outcome.INTENT, record).wait()

    def final(self, reservation: Reservation, record: Mapping[str, Any], *, inline: bool = False) -> Acceptance:
        """Write down how a call ended (``code`` and ``outcome`` are in ``record``); ends the reservation.

        ``inline``: in this thread, where a durable log is written by nobody else just then; for whoever can wait as
        long as a disk may hang.

        Raises ``AuditUnavailable`` with ``details.ran``: the call ran, and its answer may not leave; nor may it
        before the `Acceptance` has been waited for, which may raise the same.
        """
        try:
            self._reservations.remove(reservation)
        except KeyError:
            raise ValueError(_ENDED) from None
        return self._pen.append(record["code"], record["outcome"], record, inline=inline, ran=True)

    def overdue(self, **details: Any) -> CallFailed:
        """The failure of a call whose `final` does not return; nothing begins until a `look` finds that it does."""
        return self._pen.late(details)

    def note(self, code: Code, outcome: Outcome, actor: Actor = KERNEL, **fields: Any) -> None:
        """A record that is no call. Fields that a record has no key for stand under ``details``.

        Raises ``AuditUnavailable``.
        """
        self._pen.append(code, outcome, {"actor": actor.to_json(), **fields}).wait()

    def tail(self, limit: int) -> list[dict[str, Any]]:
        """The newest records from the files, oldest first. Raises ``AuditUnavailable``."""
        if self._directory is None:
            return self.since(0)[0][-limit:]
        try:
            return read_tail(self._directory, limit)
        except OSError as error:
            raise unavailable(reason_of(error)) from None

    def since(self, seq: int) -> tuple[list[dict[str, Any]], int]:
        """The records after ``seq`` that are still in memory (the newest 2,000), and how many are not. No IO.

        0 asks for all there are; they begin with those of the file that was continued.
        """
        with self._ring_lock:
            lines, dropped = self._ring.since(seq)
        return [orjson.loads(line) for line in lines], dropped

    def close(self, why: str = "") -> None:
        """Idempotent; afterwards everything is refused. The head is exact then, and signed; but not where ``why``
        says that the log is somebody else's by now."""
        self._pen.close(why)

    def _keep(self, record: Mapping[str, Any], line: bytes) -> None:
        with self._ring_lock:
            self._ring.push(record["seq"], line, len(line))
