"""Reading an audit log from end to end: is it whole, and does it end where its signed head says?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from evatui.kernel.records.damage import BadRecord, Damage
from evatui.kernel.records.head import Seal, SignedHead
from evatui.kernel.records.judging import Claim, claim_of, judge
from evatui.kernel.records.naming import misnamed
from evatui.kernel.records.segments import Segment, segments
from evatui.kernel.records.walking import Line, Walk

__all__ = ["Verification", "verified", "verify"]

_NOTHING_SIGNED = Claim(None, None, None)


@dataclass(frozen=True, slots=True)
class Verification:
    """``records`` were read, the first bad one included; ``head`` is the hash of the last, None where there is none.

    ``signed`` is the signed head, None where there is none that holds; ``past_head`` records follow the one that it
    is of, ``pruned`` went before the first, and ``unsealed`` were taken over unsigned after a run that was killed.
    """

    records: int
    head: str | None
    first_bad: BadRecord | None = None
    signed: dict[str, Any] | None = None
    past_head: int = 0
    pruned: int = 0
    unsealed: int = 0

    @property
    def ok(self) -> bool:
        return self.first_bad is None

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "records": self.records,
            "head": self.head,
            "first_bad": self.first_bad.to_json() if self.first_bad else None,
            "signed": self.signed,
            "past_head": self.past_head,
            "pruned": self.pruned,
            "unsealed": self.unsealed,
        }


def verify(directory: Path, seal: Seal | None = None) -> Verification:
    """Reads every file as far as it goes now, changes nothing, and stops at the first bad record. Raises `OSError`.

    Without a ``seal`` it is not known what was signed: then what was cut off at the very end, between two records,
    or written anew as a whole, leaves no trace.
    """
    claim = claim_of(seal) if seal else _NOTHING_SIGNED  # first: what is written meanwhile only comes after it
    with ExitStack() as stack:
        # All are opened first: a file that is pruned meanwhile can still be read.
        files = [(one, stack.enter_context(one.path.open("rb"))) for one in segments(directory)]
        if swapped := _swapped(files):
            return Verification(0, None, swapped)
        lines = (Line(one.path.name, number, data) for one, file in files for number, data in enumerate(_read(file), 1))
        found = verified(lines, claim)
    if found.ok and (wrong := misnamed([segment for segment, _ in files])):
        segment, _, finding = wrong[0]
        found = replace(found, first_bad=BadRecord(finding.kind, finding.seq, segment.path.name, 1, finding.message))
    return found


def verified(lines: Iterable[Line], claim: Claim) -> Verification:
    """What holds of these lines, the whole of a log, and of what is signed about it."""
    signed = claim.head
    wanted = (signed.head.seq - 1, signed.head.seq) if signed else ()
    walk, rest = Walk(wanted), iter(lines)
    bad = next((found for line in rest if (found := walk.step(line))), None)
    if bad and bad.kind is Damage.TRUNCATION and any(line.seq == bad.seq for line in rest):
        bad = replace(bad, kind=Damage.REORDER, message=f"record {bad.seq} stands further down")
    if bad and signed:
        bad = _blamed(bad, walk, signed)
    bad = bad or walk.unexplained_start() or walk.told or _unsigned(walk, claim)
    trusted = signed if signed and not (bad and bad.kind is Damage.HEAD) else None
    return Verification(
        walk.records,
        walk.head,
        bad,
        trusted.to_json() if trusted else None,
        max(0, walk.seq - trusted.head.seq) if trusted else 0,
        walk.pruned,
        walk.unsealed,
    )


def _blamed(bad: BadRecord, walk: Walk, signed: SignedHead) -> BadRecord:
    """Where a record does not fit the next one, and was signed as it is, that next one is the bad one."""
    head = signed.head
    known = {head.seq: head.hash, head.seq - 1: head.prev}.get(bad.seq) if signed.genuine else None
    if bad.kind is not Damage.EDIT or walk.last is None or known is None or walk.hashes.get(bad.seq) != known:
        return bad
    if head.clean and bad.seq == head.seq:
        return walk.last.bad(Damage.FORGERY, walk.seq, "it follows the last one that was signed at a clean end")
    return walk.last.bad(Damage.EDIT, walk.seq, f"it is not chained to record {bad.seq}, which is as it was signed")


def _unsigned(walk: Walk, claim: Claim) -> BadRecord | None:
    found = judge(claim, walk.seq, walk.hashes.get)
    if found is None:
        return None
    place = walk.last or Line("head.json", 1, b"")
    return place.bad(found.kind, found.seq, found.message)


def _swapped(files: Sequence[tuple[Segment, BinaryIO]]) -> BadRecord | None:
    """Two files of which each holds, from its first line on, what the other's name promises."""
    promised = {segment.first for segment, _ in files}
    starts = {segment.first: _start(segment, file) for segment, file in files}
    for segment, _ in files:
        name, first, second = segment.path.name, *starts[segment.first]
        in_order = second in (None, (first or 0) + 1)
        if first not in (segment.first, None) and first in promised and in_order and starts[first][0] == segment.first:
            message = f"the file begins with record {first}: it has changed places with another"
            return BadRecord(Damage.SWAPPED_FILES, segment.first, name, 1, message)
    return None


def _start(segment: Segment, file: BinaryIO) -> tuple[int | None, int | None]:
    """The numbers of the first two records."""
    seqs = [Line(segment.path.name, 0, data).seq for data in islice(file, 2)]
    file.seek(0)
    first, second = (seq if isinstance(seq, int) else None for seq in (*seqs, None, None)[:2])
    return first, second


def _read(file: BinaryIO) -> Iterator[bytes]:
    """Lines with their newlines, as far as the file went when it was opened.

    The last one is tried twice, since it may be in the middle of being written.
    """
    left = os.fstat(file.fileno()).st_size
    for line in file:
        yield line if line.endswith(b"\n") else line + file.readline()
        left -= len(line)
        if left <= 0:
            return
