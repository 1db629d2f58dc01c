"""Whom the operator trusts: one file in the user's configuration folder, which no workspace can bring along."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evatui.kernel.storage.database import StorageError

try:
    import fcntl
except ImportError:  # Windows: two runtimes that write in the same instant are not told apart
    fcntl = None  # type: ignore[assignment]

__all__ = ["TrustBook", "TrustedPart"]

_VERSION = 1
_MAX_BYTES = 16 << 20
_BROKEN = "the record of trust (trust.json in the user's configuration folder) cannot be read; move it away"


@dataclass(frozen=True, slots=True)
class TrustedPart:
    """``digest`` is of all that was trusted; ``power`` (JSON-like) and ``files`` (path to digest) say what that was."""

    digest: str
    power: Mapping[str, Any]
    files: Mapping[str, str]
    at: str


class TrustBook:
    """The entry of one workspace, by its canonical path. Thread-safe, and blocking: for worker threads.

    Every method but `parts` raises `StorageError` where the file cannot be used.
    """

    def __init__(self, file: Path, root: Path) -> None:
        self._file = file
        self._key = str(root)

    def parts(self) -> dict[str, TrustedPart]:
        """What is trusted, by name; nothing where the file is missing, unreadable, or may be written by others."""
        try:
            return self._parts(self._read())
        except StorageError:
            return {}

    def set(self, parts: Mapping[str, TrustedPart]) -> None:
        """Trusts ``parts`` as well, each in place of the one that had its name."""
        with self._locked():
            found = self._read()
            mine = found.setdefault(self._key, {})
            mine.update({name: asdict(part) for name, part in parts.items()})
            self._write(found)

    def forget(self) -> bool:
        """Trusts nothing of the workspace any more; was anything trusted?"""
        with self._locked():
            found = self._read()
            known = found.pop(self._key, None)
            if known is not None:
                self._write(found)
            return bool(known)

    def _parts(self, found: Mapping[str, Any]) -> dict[str, TrustedPart]:
        try:
            return {name: TrustedPart(**part) for name, part in found.get(self._key, {}).items()}
        except (TypeError, AttributeError):
            raise StorageError(_BROKEN) from None

    def _read(self) -> dict[str, Any]:
        """The workspaces of the file, by path."""
        try:
            with open(self._file, "rb") as file:
                if not _is_own(os.fstat(file.fileno())):
                    raise StorageError("the record of trust may be written by others: chmod 600 it, or move it away")
                data = file.read(_MAX_BYTES)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError(f"{_BROKEN}: {os.strerror(error.errno or 0).lower()}") from None
        try:
            raw = json.loads(data)
            workspaces = raw["workspaces"] if raw["version"] == _VERSION else None
        except (ValueError, KeyError, TypeError, RecursionError):
            workspaces = None
        if not isinstance(workspaces, dict) or not all(isinstance(parts, dict) for parts in workspaces.values()):
            raise StorageError(_BROKEN)
        return workspaces

    def _write(self, workspaces: Mapping[str, Any]) -> None:
        text = json.dumps({"version": _VERSION, "workspaces": workspaces}, indent=1, sort_keys=True)
        try:
            descriptor, beside = tempfile.mkstemp(dir=self._file.parent, prefix=".trust-")  # of mode 0600
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(descriptor)
                os.replace(beside, self._file)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(beside)
                raise
        except OSError as error:
            raise StorageError(
                f"the record of trust cannot be written: {os.strerror(error.errno or 0).lower()}"
            ) from None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, of all processes: each reads what the one before wrote."""
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StorageError(
                f"the record of trust cannot be written: {os.strerror(error.errno or 0).lower()}"
            ) from None
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _is_own(found: os.stat_result) -> bool:
    """Nobody else may write it: what it says is believed."""
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o022
