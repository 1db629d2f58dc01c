"""An audit log as one stream of lines, exact to the byte, that can be verified where nothing else of it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import orjson

from evatui.kernel.records.damage import BadRecord, Damage
from evatui.kernel.records.head import BrokenHead, Seal, SignedHead
from evatui.kernel.records.judging import Claim
from evatui.kernel.records.segments import segments
from evatui.kernel.records.verify import Verification, verified
from evatui.kernel.records.walking import Line

__all__ = ["exported", "verify_export"]

_HEAD = "audit_head"
_MAX_LINE = 16 << 20


def exported(directory: Path, seal: Seal | None) -> Iterator[bytes]:
    """The signed head, where there is one, then the lines of every file. Raises `OSError`."""
    try:
        signed = seal.head() if seal else None
    except BrokenHead:
        signed = None
    with ExitStack() as stack:
        files = [stack.enter_context(segment.path.open("rb")) for segment in segments(directory)]
        if signed is not None:
            yield orjson.dumps({_HEAD: signed.to_json()}, option=orjson.OPT_APPEND_NEWLINE)
        for file in files:
            yield from (line for line in file if line.endswith(b"\n"))


def verify_export(file: BinaryIO, name: str, key: str | None) -> Verification:
    """Verifies what `exported` gave. ``key`` is the public key that must have signed it; without one anybody's will
    do, and `Verification.signed` says whose it was. Raises `OSError`.

    What has no head is a bad ``head``: nothing vouches for its end.
    """
    claim = _claim(file.readline(_MAX_LINE), key)
    lines = (Line(name, number, data) for number, data in enumerate(_lines(file), 2))
    found = verified(lines, claim)
    if claim.head is None:
        message = claim.broken or "the first line is no signed head"
        found = replace(found, first_bad=BadRecord(Damage.HEAD, 0, name, 1, message))
    return found


def _claim(line: bytes, key: str | None) -> Claim:
    try:
        value = orjson.loads(line)
        signed = SignedHead.of_json(value[_HEAD])
    except (ValueError, TypeError, KeyError):
        return Claim(None, None, key)
    except BrokenHead as problem:
        return Claim(None, None, key, f"the first line is no signed head: {problem}")
    return Claim(signed, signed if key is not None else None, key)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(_MAX_LINE):
        yield line
