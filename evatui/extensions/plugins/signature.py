"""Who vouches for a plugin: an Ed25519 signature over the list of all its files with their digests.

``cryptography`` is loaded at the first signature.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import orjson

from evatui.extensions.plugins.package import SIGNATURE_FILE, PackedFile
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.signing import SigningKey, signed_with

__all__ = ["ABOUT", "Seal", "Signed", "read_seal", "sealed"]

ABOUT: Final = b"evatui plugin\n"
_MAX_TOLD: Final = 20


class Signed(StrEnum):
    """``UNKNOWN_KEY``: the signature fits, and the policy does not list the key. ``INVALID``: it does not fit."""

    YES = "signed"
    UNKNOWN_KEY = "unknown_key"
    NO = "unsigned"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Seal:
    """What the signature of a plugin is worth, whoever is trusted: ``key`` gave it, or ``problems`` say why nobody did.

    Both are empty where there is no signature.
    """

    key: str = ""
    problems: tuple[str, ...] = ()

    def under(self, keys: Collection[str]) -> Signed:
        """``keys`` are the public ones that are trusted, in hexadecimal."""
        if self.problems:
            return Signed.INVALID
        if not self.key:
            return Signed.NO
        return Signed.YES if self.key in {key.lower() for key in keys} else Signed.UNKNOWN_KEY


def sealed(files: Mapping[str, PackedFile], key: SigningKey) -> bytes:
    """What is to be written into `SIGNATURE_FILE`: ``{version, key, files, executables, signature}``."""
    listed = _listed(files)
    return (
        orjson.dumps({**listed, "signature": key.sign(listed | {"key": key.public}, ABOUT), "key": key.public}) + b"\n"
    )


def _listed(files: Mapping[str, PackedFile]) -> dict[str, Any]:
    told = {path: file for path, file in sorted(files.items()) if path != SIGNATURE_FILE}
    return {
        "version": 1,
        "files": {path: file.digest for path, file in told.items()},
        "executables": [path for path, file in told.items() if file.executable],
    }


def read_seal(data: bytes, files: Mapping[str, PackedFile]) -> Seal:
    """Of the bytes of `SIGNATURE_FILE`, for the ``files`` that there are. Every file that differs is named."""
    try:
        said = orjson.loads(data)
        listed = {name: said[name] for name in ("version", "files", "executables", "key")}
        signature, key = str(said["signature"]), str(said["key"])
        wanted = {str(path): str(digest) for path, digest in listed["files"].items()}
        executables = {str(path) for path in listed["executables"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        return Seal(problems=(f"{SIGNATURE_FILE} cannot be read",))
    if not signed_with(key, signature, listed, ABOUT):
        return Seal(problems=(f"the list in {SIGNATURE_FILE} is not what its key has signed",))
    there = {path: file for path, file in files.items() if path != SIGNATURE_FILE}
    problems = tuple(_differences(wanted, executables, there))
    return Seal(problems=problems[:_MAX_TOLD]) if problems else Seal(key.lower())


def _differences(
    wanted: Mapping[str, str], executables: Collection[str], there: Mapping[str, PackedFile]
) -> Iterator[str]:
    changed = [path for path in sorted(wanted) if path in there and there[path].digest != wanted[path]]
    told: set[str] = set()
    for path in changed:
        other = next((one for one in changed if _swapped(path, one, wanted, there)), None)
        if other is not None and other not in told:
            yield f"{_shown(path)} and {_shown(other)} were swapped"
        if other is None:
            yield f"{_shown(path)} was changed"
        told.add(path)
    for path in sorted(wanted.keys() - there.keys()):
        yield f"{_shown(path)} is missing"
    for path in sorted(there.keys() - wanted.keys()):
        yield f"{_shown(path)} was added"
    for path in sorted(wanted.keys() & there.keys()):
        if there[path].executable != (path in executables):
            yield f"{_shown(path)} was made {'executable' if there[path].executable else 'no longer executable'}"


def _swapped(one: str, other: str, wanted: Mapping[str, str], there: Mapping[str, PackedFile]) -> bool:
    return one != other and there[one].digest == wanted[other] and there[other].digest == wanted[one]


def _shown(path: str) -> str:
    return clean_line(path, 200)
