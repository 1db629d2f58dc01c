"""The audit log: what happened, in a chain that shows when somebody changed it.

A record is accepted when the operating system has it (mode ``write``: it survives the death of this
process), or when the disk has it (mode ``durable``). What cannot be written down does not run.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import orjson

from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.records.chain import Accept, Chain
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.record import GENESIS, compose, line_hash
from evatui.kernel.records.segments import RECENT, read_tail
from evatui.kernel.records.window import Window
from evatui.kernel.workspace.settings import AuditSettings

__all__ = ["RESERVED_BYTES", "AuditLog", "Hook", "MemoryAudit", "Reservation"]

RESERVED_BYTES = 65_536
"""Free disk space that must be there for each call under way."""
_RING_BYTES = 16 * 1024 * 1024

Hook = Callable[[Mapping[str, Any]], None]


class Reservation:
    """A call's right to write its end down. Compared by identity."""

    __slots__ = ()


class _Ledger(Protocol):
    damage: str

    def append(self, code: str, outcome: str, fields: Mapping[str, Any]) -> None: ...
    def look(self, needed_bytes: int, failed: str) -> None: ...
    def close(self) -> None: ...


class AuditLog:
    """Thread-safe. Everything but `begin`, `since` and `health` does file IO: in a thread, never on an event loop.

    ``on_append`` is called with each accepted record, in the thread that wrote it and outside the lock: it must be
    cheap, and must not raise.
    """

    def __init__(self, directory: Path | None, clock: Clock, ledger: Callable[[Accept], _Ledger]) -> None:
        self.on_append: Hook | None = None
        self._directory = directory
        self._clock = clock
        self._lock = threading.Lock()
        self._ring: Window[bytes] = Window(RECENT, _RING_BYTES)
        self._fresh: list[dict[str, Any]] = []
        self._reservations: set[Reservation] = set()
        self._refusal = ""
        self._closed = False
        self._ledger = ledger(self._accept)
        self._fresh = []

    @classmethod
    def open(cls, directory: Path, settings: AuditSettings, clock: Clock) -> AuditLog:
        """Continue the newest file of ``directory``, or begin one: full at ``rotate_bytes``, ``keep_files`` kept.

        A line that a crash cut off is removed, and each call that announced an effect and never ended becomes
        ``call.unknown``; records say so. Raises ``AuditUnavailable`` where the directory cannot be used.
        """
        try:
            log = cls(directory, clock, lambda accept: Chain(directory, settings, clock, accept))
        except OSError as error:
            raise _unavailable(_reason(error)) from None
        log.look()
        return log

    @property
    def health(self) -> tuple[bool, str, str]:
        """``(ok, word, detail)``; the words are ``unavailable`` (nothing runs) and ``damaged`` (records are gone)."""
        if self._refusal:
            return False, "unavailable", self._refusal
        if self._ledger.damage:
            return False, "damaged", self._ledger.damage
        return True, "", ""

    def begin(self) -> Reservation:
        """Reserve the room for a call's records. Raises ``AuditUnavailable``: then nothing may run.

        Cheap, and without IO: `look` finds out beforehand whether there is anything to write to.
        """
        if self._refusal:
            raise _unavailable(self._refusal)
        reservation = Reservation()
        self._reservations.add(reservation)  # one step of the interpreter: needs no lock
        return reservation

    def look(self) -> None:
        """To be called once a second: has the disk room, and is the file still the one that was opened?

        A file or folder that was deleted or replaced is made anew, and the chain runs on in it behind an
        ``audit.reopened`` record; `health` stays ``damaged``. Where that fails, calls are refused until it succeeds.
        """
        with self._chain():
            if self._closed:
                return
            try:
                self._ledger.look(RESERVED_BYTES * (len(self._reservations) + 1), self._refusal)
                self._refusal = ""
            except OSError as error:
                self._refusal = _reason(error)

    def release(self, reservation: Reservation) -> None:
        """Give a reservation back without a record; one that has ended already is no error."""
        with self._lock:
            self._reservations.discard(reservation)

    def intent(self, reservation: Reservation, record: Mapping[str, Any]) -> None:
        """Announce an effectful host call: ``host_calls`` names it, ``request_id`` whose it is.

        Raises ``AuditUnavailable``: then the effect may not happen.
        """
        with self._chain():
            self._held(reservation)
            self._append(Code.EFFECT_INTENT, Outcome.INTENT, record)

    def final(self, reservation: Reservation, record: Mapping[str, Any]) -> None:
        """Write down how a call ended (``code`` and ``outcome`` are in ``record``); ends the reservation.

        Raises ``AuditUnavailable`` with ``details.ran``: the call ran, and its answer may not leave.
        """
        fields = dict(record)
        code, outcome = fields.pop("code"), fields.pop("outcome")
        with self._chain():
            self._held(reservation)
            self._reservations.discard(reservation)
            self._append(code, outcome, fields, ran=True)

    def note(self, code: Code, outcome: Outcome, actor: Actor = KERNEL, **fields: Any) -> None:
        """A record that is no call. Fields that a record has no key for stand under ``details``.

        Raises ``AuditUnavailable``.
        """
        with self._chain():
            self._append(code, outcome, {"actor": actor.to_json(), **fields})

    def tail(self, limit: int) -> list[dict[str, Any]]:
        """The newest records from the files, oldest first. Raises ``AuditUnavailable``."""
        if self._directory is None:
            return self.since(0)[0][-limit:]
        try:
            return read_tail(self._directory, limit)
        except OSError as error:
            raise _unavailable(_reason(error)) from None

    def since(self, seq: int) -> tuple[list[dict[str, Any]], int]:
        """The records after ``seq`` that are still in memory (the newest 2,000), and how many are not. No IO.

        0 asks for all there are; they begin with those of the file that was continued.
        """
        with self._lock:
            lines, dropped = self._ring.since(seq)
        return [orjson.loads(line) for line in lines], dropped

    def close(self, why: str = "the audit log is closed") -> None:
        """Idempotent; afterwards everything is refused, because of ``why``."""
        with self._lock:
            if not self._closed:
                self._closed, self._refusal = True, why
                self._ledger.close()

    def _accept(self, record: dict[str, Any], line: bytes) -> None:
        self._ring.push(record["seq"], line, len(line))
        self._fresh.append(record)

    @contextmanager
    def _chain(self) -> Iterator[None]:
        """Holds the chain; what was accepted meanwhile goes to the hook once it is let go."""
        fresh: list[dict[str, Any]] = []
        try:
            with self._lock:
                self._fresh = fresh
                yield
        finally:
            if self.on_append:
                for record in fresh:
                    self.on_append(record)

    def _held(self, reservation: Reservation) -> None:
        if reservation not in self._reservations:
            raise ValueError("this reservation has ended")

    def _append(self, code: str, outcome: str, fields: Mapping[str, Any], **details: Any) -> None:
        if self._closed:
            raise _unavailable(self._refusal, **details)
        try:
            self._ledger.append(code, outcome, fields)
        except OSError as error:
            self._refusal = _reason(error)
            raise _unavailable(self._refusal, **details) from None


class MemoryAudit(AuditLog):
    """Writes nothing down. `tail` shows the files of ``directory``, if one is given: for readers of a workspace."""

    def __init__(self, clock: Clock, directory: Path | None = None) -> None:
        super().__init__(directory, clock, lambda accept: _MemoryLedger(clock, accept))


class _MemoryLedger:
    damage = ""

    def __init__(self, clock: Clock, accept: Accept) -> None:
        self._clock = clock
        self._accept = accept
        self._seq = 0
        self._prev = GENESIS

    def append(self, code: str, outcome: str, fields: Mapping[str, Any]) -> None:
        self._seq += 1
        record = compose(self._seq, rfc3339(self._clock.now()), code, outcome, fields, self._prev)
        line = orjson.dumps(record)
        self._prev = line_hash(line)
        self._accept(record, line)

    def look(self, needed_bytes: int, failed: str) -> None:
        """There is always room."""

    def close(self) -> None:
        """Nothing is held."""


def _unavailable(reason: str, **details: Any) -> CallFailed:
    return failure(ErrorKind.AUDIT_UNAVAILABLE, f"the audit log cannot be written: {reason}", **details)


def _reason(error: OSError) -> str:
    """Without the path that an `OSError` names."""
    return os.strerror(error.errno).lower() if error.errno else str(error)
