"""The head of an audit log: how far its records were vouched for, signed, and kept apart from them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from evatui.kernel.records.signing import SigningKey, public_key, signed_with

__all__ = ["HEAD_FILE", "BrokenHead", "Head", "Seal", "SignedHead"]

HEAD_FILE = "head.json"
_KEY_FILE = "key"
_MAX_BYTES = 4096


class BrokenHead(Exception):
    """There is a head, and it cannot be read as one."""


@dataclass(frozen=True, slots=True)
class Head:
    """``hash`` is of record ``seq``, ``prev`` of the one before it; ``count`` records lay in the files up to it.

    ``clean``: the run ended well behind this record. ``at`` is when it was signed.
    """

    seq: int
    count: int
    hash: str
    prev: str
    at: str
    clean: bool


@dataclass(frozen=True, slots=True)
class SignedHead:
    """``key`` is the public half of the one that signed, as the file says."""

    head: Head
    key: str
    signature: str

    @classmethod
    def of_json(cls, value: Any) -> SignedHead:
        """Raises `BrokenHead`."""
        try:
            fields = {name: value[name] for name in Head.__slots__}
            told = cls(Head(**fields), value["key"], value["signature"])
        except (KeyError, TypeError):
            raise BrokenHead("it has not the members of a head") from None
        if type(told.head.seq) is not int or not all(isinstance(text, str) for text in (told.key, told.signature)):
            raise BrokenHead("its members are of the wrong kind")
        return told

    @property
    def genuine(self) -> bool:
        """Has the owner of `key` signed this? Whose that is, is another question."""
        return signed_with(self.key, self.signature, {**asdict(self.head), "key": self.key})

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self.head), "key": self.key, "signature": self.signature}


class Seal:
    """Signs the head of one log. ``folder`` is the operator's own, outside of every workspace: it has the key, made
    there at the first signature, and a copy of the newest head of each log, so that no older one passes for it.

    Blocking. Every method may raise `OSError`.
    """

    def __init__(self, folder: Path, directory: Path) -> None:
        self._key_file = folder / _KEY_FILE
        self._head_file = directory / HEAD_FILE
        name = hashlib.sha256(os.fsencode(os.path.abspath(directory))).hexdigest()[:32]
        self._copy_file = folder / f"{name}.json"
        self._key: SigningKey | None = None

    def head(self) -> SignedHead | None:
        """The one beside the log; None where there is none. Raises `BrokenHead` as well."""
        return _read(self._head_file)

    def newest(self) -> SignedHead | None:
        """The operator's own copy; None where nothing was signed before, or where it is no head of theirs."""
        try:
            found = _read(self._copy_file)
        except BrokenHead:
            return None
        return found if found is not None and found.key == self.key() and found.genuine else None

    def key(self) -> str | None:
        """The public key of the operator; None where they have signed nothing yet."""
        return self._key.public if self._key else public_key(self._key_file)

    def sign(self, head: Head) -> None:
        """Signs it and puts it in its place. The copy comes second: a crash between leaves no head that is too old."""
        if self._key is None:
            self._key = SigningKey.of_file(self._key_file)
        value = {**asdict(head), "key": self._key.public}
        data = orjson.dumps({**value, "signature": self._key.sign(value)}, option=orjson.OPT_APPEND_NEWLINE)
        _replace(self._head_file, data)
        _replace(self._copy_file, data)


def _read(path: Path) -> SignedHead | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return None
    except OSError:
        raise BrokenHead("it is no regular file") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BrokenHead("it is no regular file")
        data = os.read(descriptor, _MAX_BYTES)
    finally:
        os.close(descriptor)
    try:
        value = orjson.loads(data)
    except ValueError:
        raise BrokenHead("it is not JSON") from None
    return SignedHead.of_json(value)


def _replace(path: Path, data: bytes) -> None:
    """Whole or not at all, for its owner alone."""
    beside = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
