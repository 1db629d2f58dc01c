"""The operator's key, and what is signed with it. Everything of ``cryptography`` is loaded at its first use."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Any

import orjson

__all__ = ["SigningKey", "public_key", "signed_with"]

_ABOUT = b"evatui audit head\n"
_SEED_BYTES = 32


class SigningKey:
    """An Ed25519 key."""

    def __init__(self, seed: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._key.public_key().public_bytes_raw().hex()
        """Its public half, in hexadecimal."""

    @classmethod
    def of_file(cls, path: Path) -> SigningKey:
        """The key of ``path``, made there (for its owner alone) where there is none. Raises `OSError`."""
        seed = _read(path)
        if seed is None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _create(path, secrets.token_bytes(_SEED_BYTES))
            seed = _read(path)  # of two that made one at the same time, the first one's
        if seed is None:
            raise OSError("the signing key went away")
        return cls(seed)

    def sign(self, value: dict[str, Any], about: bytes = _ABOUT) -> str:
        """``about`` says what kind of thing is signed, so that no signature is good for another kind."""
        return self._key.sign(_bytes(value, about)).hex()


def public_key(path: Path) -> str | None:
    """The public half of the key in ``path``; None where there is none. Raises `OSError`."""
    seed = _read(path)
    return SigningKey(seed).public if seed is not None else None


def signed_with(key: str, signature: str, value: dict[str, Any], about: bytes = _ABOUT) -> bool:
    """Is this the signature of ``value`` by the owner of the public ``key``? What is no signature is none."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), _bytes(value, about))
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _bytes(value: dict[str, Any], about: bytes) -> bytes:
    return about + orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _read(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("the signing key is no regular file")
        if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o077):
            raise OSError("the signing key is not its owner's alone: chmod 600 it, or move it away")
        text = os.read(descriptor, 4 * _SEED_BYTES)
    finally:
        os.close(descriptor)
    try:
        seed = bytes.fromhex(text.decode("ascii"))
    except ValueError:
        seed = b""
    if len(seed) != _SEED_BYTES:
        raise OSError("the signing key cannot be read: move it away")
    return seed


def _create(path: Path, seed: bytes) -> None:
    """Whole or not at all; what is there already stays."""
    beside = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(seed.hex().encode() + b"\n")
            file.flush()
            os.fsync(descriptor)
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)
    finally:
        os.unlink(beside)
