"""The chain of records on disk: appended, rotated, pruned, and carried on over whatever happens to its file."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from evatui.kernel.model.call import KERNEL
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.logfile import LogFile
from evatui.kernel.records.record import compose, line_hash
from evatui.kernel.records.segments import last_line, segments, standing
from evatui.kernel.workspace.settings import AuditMode, AuditSettings

__all__ = ["Accept", "Chain"]

Accept = Callable[[dict[str, Any], bytes], None]
_KERNEL = {"actor": KERNEL.to_json()}


class Chain:
    """Not thread-safe: its owner locks. Every method may raise `OSError`; a record that raised was not accepted.

    ``accept`` hears of each accepted record, with its line.
    """

    def __init__(self, directory: Path, settings: AuditSettings, clock: Clock, accept: Accept) -> None:
        self._directory = directory
        self._settings = settings
        self._durable = settings.mode is AuditMode.DURABLE
        self._clock = clock
        self._accept = accept
        self._heading: tuple[Code, Outcome, dict[str, Any]] | None = None
        self.damage = ""
        """What somebody did to the files while they were open; stays until the next start."""
        _make_private(directory)
        self._resume()

    def append(self, code: str, outcome: str, fields: Mapping[str, Any]) -> None:
        if self._file.size >= self._settings.rotate_bytes:
            self._turn_to_new_file(Code.AUDIT_ROTATED, Outcome.OK, {"full": self._file.path.name})
        self._settle()
        self._write(code, outcome, fields)

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
        free = shutil.disk_usage(self._directory).free
        if free < needed_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._settle()
        if failed:
            self._write(Code.AUDIT_RECOVERED, Outcome.OK, {**_KERNEL, "cause": failed})

    def close(self) -> None:
        self._file.close()

    def _resume(self) -> None:
        files = segments(self._directory)
        self._standing, recent = standing(files)
        for record, line in recent:
            self._accept(record, line)
        if not files:
            self._file = LogFile.create(self._path(), self._durable)
            return
        torn, name = self._standing.torn, files[-1].path.name
        self._file = LogFile.resume(files[-1].path, self._standing.good_bytes, self._durable)
        try:
            if torn:
                about = {"file": name, "bytes": len(torn), "digest": line_hash(torn)}
                self.append(Code.AUDIT_TORN_TAIL, Outcome.ERROR, {**_KERNEL, **about})
            for request_id, call in list(self._standing.pending.items()):
                self.append(Code.CALL_UNKNOWN, Outcome.UNKNOWN, {"request_id": request_id, **call})
        except OSError:
            self._file.close()
            raise

    def _turn_to_new_file(self, code: Code, outcome: Outcome, about: dict[str, Any]) -> None:
        fresh = LogFile.create(self._path(), self._durable)
        self._file.close()
        self._file = fresh
        self._heading = (code, outcome, {**_KERNEL, **about, "pending": dict(self._standing.pending)})

    def _settle(self) -> None:
        """A new file begins with its heading, even where writing that failed at first."""
        if self._heading:
            self._write(*self._heading)
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
            oldest.path.unlink()

    def _write(self, code: str, outcome: str, fields: Mapping[str, Any]) -> None:
        state = self._standing
        record = compose(state.seq + 1, rfc3339(self._clock.now()), code, outcome, fields, state.prev)
        line = orjson.dumps(record)
        self._file.append(line + b"\n")
        state.seq, state.prev = state.seq + 1, line_hash(line)
        state.follow(record)
        self._accept(record, line)

    def _path(self) -> Path:
        return self._directory / f"audit-{self._standing.seq + 1}.jsonl"


def _make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = os.stat(directory, follow_symlinks=False)
    if not stat.S_ISDIR(found.st_mode):
        raise OSError("the audit directory is not a directory")
    if found.st_mode & 0o077:
        os.chmod(directory, 0o700)
