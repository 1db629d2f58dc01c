"""Who writes the audit log: one at a time, in groups where it is durable, and never longer than a deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.records.chain import Accept
from evatui.kernel.records.groups import ACCEPTED, Acceptance, Entry, Groups
from evatui.kernel.records.head import Head, Seal
from evatui.kernel.records.outlet import Outlet
from evatui.kernel.records.sealer import Sealer

__all__ = ["Hook", "Ledger", "Pen", "reason_of", "unavailable"]

_HANGS = "it does not take records in time"

Hook = Callable[[Mapping[str, Any]], None]


class Ledger(Protocol):
    """Where records go; not thread-safe, and every method may raise `OSError`. See `Chain`."""

    damage: str

    def append(self, code: str, outcome: str, fields: Mapping[str, Any]) -> None: ...
    def commit(self) -> None: ...
    def retract(self) -> None: ...
    def last_words(self, error: OSError) -> None: ...
    def look(self, needed_bytes: int, failed: str) -> None: ...
    def head(self, clean: bool) -> Head: ...
    def close(self) -> None: ...


class Pen:
    """Thread-safe. ``accept`` hears of each accepted record under the lock, ``on_append`` outside of it.

    ``refusal`` says why nothing can be written, empty while it can. What hangs longer than ``give_up_s`` is given
    up: whoever waits for it gets ``AuditUnavailable``, until a `look` finds that it works again.
    """

    def __init__(
        self,
        ledger: Callable[[Accept], Ledger],
        accept: Accept,
        *,
        seal: Seal | None,
        outlet: Outlet | None,
        groups: bool,
        give_up_s: float,
    ) -> None:
        self.refusal = ""
        self.on_append: Hook | None = None
        self._told = accept
        self._give_up_s = give_up_s
        self._lock = threading.Lock()
        self._fresh: list[dict[str, Any]] = []
        self._closed = False
        self._seal = seal
        self._outlet: Outlet | None = None
        self._sealer: Sealer | None = None
        self._ledger = ledger(self._accept)
        self._outlet = outlet  # what was there before is not for it
        self._groups = Groups(self._write_group) if groups else None
        self._sealer = Sealer(self._sign) if seal else None

    @property
    def health(self) -> tuple[bool, str, str]:
        if self.refusal:
            return False, "unavailable", self.refusal
        if self._ledger.damage:
            return False, "damaged", self._ledger.damage
        if self._sealer and self._sealer.problem:
            return False, "unsealed", f"the head cannot be signed: {self._sealer.problem}"
        return True, "", ""

    def append(
        self, code: str, outcome: str, fields: Mapping[str, Any], *, inline: bool = False, **details: Any
    ) -> Acceptance:
        """Raises ``AuditUnavailable`` with ``details``; so may the `Acceptance`. ``inline``: see `Groups`."""
        if self._groups and not self._closed:
            entry = Entry(code, outcome, fields, details, self._give_up_s, self.late)
            self._groups.add(entry, inline=inline)
            return entry
        if reason := self._put_down(((code, outcome, fields),)):
            raise unavailable(reason, **details)
        return ACCEPTED

    def look(self, needed_bytes: int) -> None:
        try:
            fresh = self._take()
        except TimeoutError:
            return
        try:
            if self._closed:
                return
            self._ledger.look(needed_bytes, self.refusal)
            if self._outlet:
                self._outlet.send()
            self.refusal = ""
        except OSError as error:
            self._fail(error)
        finally:
            self._let_go(fresh)

    def seal(self) -> None:
        """Sign the head now, if there is somebody to sign it."""
        if self._sealer:
            self._sealer.seal()

    def close(self, why: str) -> None:
        """Idempotent. Without ``why`` the log is whole, and its head is signed as the last one of this run."""
        if self._closed:
            return
        if self._groups:
            self._groups.close(self._give_up_s)
        if self._sealer:
            self._sealer.close(self._give_up_s)
        in_time = self._lock.acquire(timeout=self._give_up_s)
        self._closed, self.refusal = True, why or "the audit log is closed"
        if not in_time:  # its file is in the hands of a thread that hangs
            return
        try:
            head = self._ledger.head(clean=True)
            self._ledger.close()
        finally:
            self._lock.release()
        if self._seal and self._sealer and not why:
            try:
                self._seal.sign(head)
            except OSError as error:
                self._sealer.problem = reason_of(error)

    def _accept(self, record: dict[str, Any], line: bytes) -> None:
        self._told(record, line)
        self._fresh.append(record)
        if self._outlet:
            self._outlet.add(line + b"\n")

    def _take(self) -> list[dict[str, Any]]:
        """The chain, until it is let go; in the list is then what was accepted meanwhile.

        Raises `TimeoutError` where another thread holds it, and hangs.
        """
        if not (self._lock.acquire(False) or self._lock.acquire(timeout=self._give_up_s)):
            self.refusal = self.refusal or _HANGS
            raise TimeoutError(self.refusal)
        self._fresh = []
        return self._fresh

    def _let_go(self, fresh: Sequence[Mapping[str, Any]]) -> None:
        self._lock.release()
        if fresh and self._sealer:
            self._sealer.tell()
        if self.on_append:
            for record in fresh:
                self.on_append(record)

    def _put_down(self, records: Sequence[tuple[str, str, Mapping[str, Any]]]) -> str:
        """Why none of them is accepted; empty where all are."""
        try:
            fresh = self._take()
        except TimeoutError as error:
            return reason_of(error)
        try:
            if self._closed:
                return self.refusal
            for code, outcome, fields in records:
                self._ledger.append(code, outcome, fields)
            self._ledger.commit()
            if self._outlet:
                self._outlet.send()
        except OSError as error:
            self._fail(error)
            return reason_of(error)
        except BaseException:
            self._ledger.retract()  # or what came before in this group would go out with the next
            raise
        finally:
            self._let_go(fresh)
        return ""

    def _write_group(self, group: Sequence[Entry]) -> Callable[[Entry], CallFailed | None]:
        reason = self._put_down([(entry.code, entry.outcome, entry.fields) for entry in group])
        return lambda entry: unavailable(reason, **entry.details) if reason else None

    def _fail(self, error: OSError) -> None:
        self._ledger.retract()
        self._ledger.last_words(error)
        self.refusal = reason_of(error)

    def late(self, details: Mapping[str, Any]) -> CallFailed:
        """The failure of a record that was given up; nothing begins until a `look` finds that it works again."""
        self.refusal = self.refusal or _HANGS
        return unavailable(self.refusal, **details)

    def _sign(self) -> None:
        if self._seal is None or not self._lock.acquire(timeout=self._give_up_s):
            return
        try:
            head = None if self._closed else self._ledger.head(clean=False)
        finally:
            self._lock.release()
        if head:
            self._seal.sign(head)


def unavailable(reason: str, **details: Any) -> CallFailed:
    return failure(ErrorKind.AUDIT_UNAVAILABLE, f"the audit log cannot be written: {reason}", **details)


def reason_of(error: OSError) -> str:
    """Without the path that an `OSError` names."""
    return error.strerror.lower() if error.strerror else str(error) or type(error).__name__
