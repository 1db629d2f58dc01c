"""Does an audit log end where its signed head says, and in the record that was signed?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evatui.kernel.records.damage import Damage
from evatui.kernel.records.head import BrokenHead, Head, Seal, SignedHead

__all__ = ["Claim", "Finding", "claim_of", "judge"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``seq`` is the first record that is not what was signed."""

    kind: Damage
    seq: int
    message: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What is signed about a log: the head beside it, the newest one that the operator knows, and their key.

    ``broken`` says why the head cannot be read, if it cannot.
    """

    head: SignedHead | None
    newest: SignedHead | None
    key: str | None
    broken: str = ""


def claim_of(seal: Seal) -> Claim:
    """Blocking. Raises `OSError`."""
    try:
        return Claim(seal.head(), seal.newest(), seal.key())
    except BrokenHead as problem:
        return Claim(None, seal.newest(), seal.key(), str(problem))


def judge(claim: Claim, last: int, hash_of: Callable[[int], str | None]) -> Finding | None:
    """What is wrong with a log whose last record is ``last``, 0 where it has none; None where nothing is.

    ``hash_of`` gives the hash of a record, None where there is none. A log of which nothing is signed is nobody's
    to judge; nor is one that is gone with its head: it begins anew.
    """
    if claim.broken:
        return Finding(Damage.HEAD, last, f"the head cannot be read: {claim.broken}")
    signed = claim.head
    if signed is None:
        if claim.newest is None or not last:
            return None
        return Finding(Damage.HEAD, last, "the head is missing, and one was signed for this log before")
    return _whose(claim, signed, last) or _older(claim, signed.head, last) or _ends(signed.head, last, hash_of)


def _whose(claim: Claim, signed: SignedHead, last: int) -> Finding | None:
    if not signed.genuine:
        return Finding(Damage.HEAD, last, "the head does not bear the signature of the key that it names")
    if claim.newest is not None and signed.key != claim.key:
        return Finding(Damage.HEAD, last, "the head is signed by another key than the ones before")
    return None


def _older(claim: Claim, head: Head, last: int) -> Finding | None:
    newest = claim.newest.head if claim.newest else head
    if newest.seq <= head.seq:
        return None
    put_back = "; the records were put back with it" if last < newest.seq else ""
    message = f"the head is of record {head.seq}, and record {newest.seq} was signed since{put_back}"
    return Finding(Damage.OLD_HEAD, head.seq + 1, message)


def _ends(head: Head, last: int, hash_of: Callable[[int], str | None]) -> Finding | None:
    if last < head.seq:
        missing = f"record {head.seq} is" if last + 1 == head.seq else f"records {last + 1} to {head.seq} are"
        return Finding(Damage.TRUNCATION, last + 1, f"{missing} missing at the end")
    if head.seq and hash_of(head.seq) != head.hash:
        if hash_of(head.seq - 1) in (head.prev, None):
            return Finding(Damage.EDIT, head.seq, "this is not the record that was signed")
        return Finding(Damage.FORK, head.seq, "this and records before it are not those that were signed")
    if head.clean and last > head.seq:
        more = "a record follows" if last == head.seq + 1 else f"{last - head.seq} records follow"
        return Finding(Damage.FORGERY, head.seq + 1, f"{more} the last one that was signed at a clean end")
    return None
