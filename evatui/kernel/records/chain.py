"""The chain of records on disk: appended, rotated, pruned, and carried on over whatever happens to its file."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evatui.kernel.model.call import KERNEL
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.head import Head
from evatui.kernel.records.judging import Claim, Finding, judge
from evatui.kernel.records.logfile import LogFile
from evatui.kernel.records.naming import put_in_order
from evatui.kernel.records.record import GENESIS, compose, line_hash
from evatui.kernel.records.reserve import Reserve, is_full
from evatui.kernel.records.segments import Segment, file_name, hash_at, last_line, segments, standing
from evatui.kernel.workspace.settings import AuditMode, AuditSettings

__all__ = ["Accept", "Chain"]

Accept = Callable[[dict[str, Any], bytes], None]
_KERNEL = {"actor": KERNEL.to_json()}


class Chain:
    """Not thread-safe: its owner locks. Every method may raise `OSError`; what was appended since the last `commit`
    is then to be taken back with `retract`, and was not accepted.

    ``accept`` hears of each accepted record, with its line. ``claim`` is what is signed about the log that is there.
    """

    def __init__(
        self, directory: Path, settings: AuditSettings, clock: Clock, accept: Accept, claim: Claim | None = None
    ) -> None:
        self._directory = directory
        self._settings = settings
        self._durable = settings.mode is AuditMode.DURABLE
        self._clock = clock
        self._accept = accept
        self._heading: tuple[Code, Outcome, dict[str, Any]] | None = None
        self._loose: list[tuple[dict[str, Any], bytes]] = []
        self._file: LogFile
        self._marked: tuple[int, str, str, int]
        self._full = False
        self.damage = ""
        """What somebody did to the files, while they were open or before; stays until the next start."""
        _make_private(directory)
        self._reserve = Reserve(directory / ".reserve")
        self._reserve.fill()
        self._resume(claim, put_in_order(directory))

    def append(self, code: str, outcome: str, fields: Mapping[str, Any]) -> None:
        if self._file.size >= self._settings.rotate_bytes:
            self._turn_to_new_file(Code.AUDIT_ROTATED, Outcome.OK, {"full": self._file.path.name})
        if self._heading:
            self._settle()
        self._write(code, outcome, fields)

    def commit(self) -> None:
        """What was appended is accepted, once the disk has it where the log is durable."""
        self._file.commit()
        follow, accept = self._standing.follow, self._accept
        for record, line in self._loose:
            follow(record)
            accept(record, line)
        self._loose.clear()
        self._mark()

    def retract(self) -> None:
        """Nothing that was appended since the last `commit` counts."""
        self._loose = []
        self._standing.seq, self._standing.prev, self._before, size = self._marked
        self._file.retract(size)

    def last_words(self, error: OSError) -> None:
        """Where the disk is full: say so, once, in the room that was kept for it."""
        if not is_full(error) or self._full:
            return
        self._full = True
        self._reserve.free()
        try:
            self._write(Code.AUDIT_FULL, Outcome.ERROR, {**_KERNEL, "free_bytes": self._free()})
            self.commit()
        except OSError:
            self.retract()

    def look(self, needed_bytes: int, failed: str) -> None:
        """Is there room for ``needed_bytes``, and is the file still ours? Else the chain runs on in a new one.

        ``failed`` says why the last append failed, if it did: then a record is written to see whether it works again.
        """
        if cause := self._file.tampering():
            name = self._file.path.name
            self.damage = f"{name} was {cause} by somebody else; the chain runs on in a new file"
            self._directory.parent.mkdir(mode=0o700, exist_ok=True)  # not above it: a workspace that is gone stays gone
            _make_private(self._directory)
            self._turn_to_new_file(Code.AUDIT_REOPENED, Outcome.ERROR, {"file": name, "cause": cause})
        if self._free() < needed_bytes + self._reserve.missing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._settle()
        if failed:
            self._write(Code.AUDIT_RECOVERED, Outcome.OK, {**_KERNEL, "cause": failed})
        self.commit()
        self._reserve.fill()
        self._full = False

    def head(self, clean: bool) -> Head:
        """How far the log goes; ``clean`` where nothing will follow in this run."""
        state = self._standing
        count = state.seq - self._first + 1 if state.seq else 0
        return Head(state.seq, count, state.prev, self._before, rfc3339(self._clock.now()), clean)

    def close(self) -> None:
        self._file.close()

    def _resume(self, claim: Claim | None, misnamed: Finding | None) -> None:
        files = segments(self._directory)
        self._standing, recent = standing(files)
        self._first = files[0].first if files else 1
        self._before = (hash_at(files, self._standing.seq - 1) if self._standing.seq > 1 else None) or GENESIS
        for record, line in recent:
            self._accept(record, line)
        if files:
            self._file = LogFile.resume(files[-1].path, self._standing.good_bytes, self._durable)
        else:
            self._file = LogFile.create(self._path(), self._durable)
        self._mark()
        try:
            if misnamed:
                self._say_damaged(misnamed)
            self._say_what_was_found(files, claim)
            self.commit()
        except OSError:
            self._file.close()
            raise

    def _say_what_was_found(self, files: list[Segment], claim: Claim | None) -> None:
        torn, last = self._standing.torn, self._standing.seq
        if claim:
            self._say_what_was_signed(files, claim, last)
        if torn:
            about = {"file": files[-1].path.name, "bytes": len(torn), "digest": line_hash(torn)}
            self.append(Code.AUDIT_TORN_TAIL, Outcome.ERROR, {**_KERNEL, **about})
        for request_id, call in list(self._standing.pending.items()):
            self.append(Code.CALL_UNKNOWN, Outcome.UNKNOWN, {"request_id": request_id, **call})

    def _say_what_was_signed(self, files: list[Segment], claim: Claim, last: int) -> None:
        head, newest = claim.head.head if claim.head else None, claim.newest
        if found := judge(claim, last, lambda seq: hash_at(files, seq)):
            self._say_damaged(found)
        elif head and last > head.seq:
            about = {"first_seq": head.seq + 1, "last_seq": last}
            self.append(Code.AUDIT_UNSEALED, Outcome.UNKNOWN, {**_KERNEL, **about})
        elif newest and not head and not last:
            gone = {"last_seq": newest.head.seq, "last_hash": newest.head.hash}
            self.append(Code.AUDIT_STARTED_OVER, Outcome.UNKNOWN, {**_KERNEL, **gone})

    def _say_damaged(self, found: Finding) -> None:
        self.damage = f"at the start, {found.message}"
        about = {"kind": found.kind.value, "bad_seq": found.seq, "message": found.message}
        self.append(Code.AUDIT_DAMAGED, Outcome.ERROR, {**_KERNEL, **about})

    def _turn_to_new_file(self, code: Code, outcome: Outcome, about: dict[str, Any]) -> None:
        self.commit()
        fresh = LogFile.create(self._path(), self._durable)
        self._file.close()
        self._file = fresh
        self._mark()
        self._heading = (code, outcome, {**_KERNEL, **about, "pending": dict(self._standing.pending)})

    def _settle(self) -> None:
        """A new file begins with its heading, even where writing that failed at first."""
        if self._heading:
            self._write(*self._heading)
            self.commit()
            self._heading = None
            self._prune()

    def _prune(self) -> None:
        files = segments(self._directory)
        while len(files) > max(1, self._settings.keep_files):
            oldest = files.pop(0)
            last = last_line(oldest.path)
            about = {
                "file": oldest.path.name,
                "first_seq": oldest.first,
                "last_seq": files[0].first - 1,
                "last_hash": line_hash(last) if last is not None else None,
            }
            # Recorded first: a crash between the two leaves a file too many, never a gap that nobody explains.
            self._write(Code.AUDIT_PRUNED, Outcome.OK, {**_KERNEL, **about})
            self.commit()
            oldest.path.unlink()
        self._first = files[0].first if files else self._first

    def _write(self, code: str, outcome: str, fields: Mapping[str, Any]) -> None:
        state = self._standing
        seq, prev = state.seq + 1, state.prev
        record, line = compose(seq, rfc3339(self._clock.now()), code, outcome, fields, prev)
        self._file.append(line + b"\n")
        self._before, state.seq, state.prev = prev, seq, line_hash(line)
        self._loose.append((record, line))

    def _mark(self) -> None:
        self._marked = (self._standing.seq, self._standing.prev, self._before, self._file.size)

    def _free(self) -> int:
        return shutil.disk_usage(self._directory).free

    def _path(self) -> Path:
        return self._directory / file_name(self._standing.seq + 1)


def _make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = os.stat(directory, follow_symlinks=False)
    if not stat.S_ISDIR(found.st_mode):
        raise OSError("the audit directory is not a directory")
    if found.st_mode & 0o077:
        os.chmod(directory, 0o700)
