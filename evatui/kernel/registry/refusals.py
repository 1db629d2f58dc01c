"""What was refused: kept with its reasons, and with how it differs from what served at that time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from evatui.kernel.admission.verdict import Rejection
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.diff import field_differences
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.text_diff import text_difference
from evatui.kernel.storage.database import StorageError
from evatui.kernel.storage.rejection_book import Refused, RejectionBook

__all__ = ["ALIKE", "Difference", "Refusals", "Told"]

_AT_HAND = 200
_MAX_DIAGNOSTICS = 50


@dataclass(frozen=True, slots=True)
class Difference:
    """How a refused version differs from the generation ``against``: in values of its manifest, and in lines."""

    against: str = ""
    fields: tuple[Mapping[str, Any], ...] = ()
    text: str = ""


ALIKE = Difference()


@dataclass(frozen=True, slots=True)
class Told:
    """A refusal as it was kept; ``diagnostics`` are JSON-like."""

    id: str | None
    path: str
    digest: str
    at: str
    summary: str
    diagnostics: tuple[Mapping[str, Any], ...]
    difference: Difference


class Refusals:
    """`note` is for the loop. The work is done in the journal's thread, after what was noted before."""

    def __init__(self, book: RejectionBook, journal: Journal) -> None:
        self.on_kept: Callable[[], None] = lambda: None
        """Called from any thread whenever a difference has become known."""
        self._book = book
        self._journal = journal
        self._at_hand: OrderedDict[tuple[str, str], Difference] = OrderedDict()

    def note(self, rejection: Rejection, capability_id: str | None, serving: Generation | None, at: str) -> None:
        """``at``: RFC 3339, the same that is told of it while it is in force."""
        self._journal.later(self._keep, rejection, capability_id, serving, at)

    def difference(self, rejection: Rejection) -> Difference:
        """Of one of the newest refusals; nothing where it is not known, or not yet."""
        return self._at_hand.get((rejection.path, rejection.digest), ALIKE)

    async def kept(self, name: str | None = None) -> list[Told]:
        """Those of a capability or a file, or all, the newest first. Raises `StorageError`."""
        return await self._journal.written(lambda: self._read(name))

    async def settled(self) -> None:
        """Until what was noted is kept."""
        await self._journal.written(lambda: None)

    def _read(self, name: str | None) -> list[Told]:
        return [_told(refused) for refused in (self._book.all() if name is None else self._book.of(name))]

    def _keep(self, rejection: Rejection, capability_id: str | None, serving: Generation | None, at: str) -> None:
        difference = _difference(rejection, serving)
        diagnostics = rejection.diagnostics[:_MAX_DIAGNOSTICS]
        refused = Refused(
            capability_id=capability_id,
            path=clean_line(rejection.path),
            digest=rejection.digest,
            at=at,
            summary=_summary(diagnostics[0]),
            diagnostics=orjson.dumps([found.to_json() for found in diagnostics]).decode(),
            against=difference.against,
            difference=orjson.dumps(asdict(difference)).decode(),
        )
        try:
            difference = _told(self._book.keep(refused)).difference
        except StorageError as error:
            self._journal.defect("refusals", error)
        self._at_hand[rejection.path, rejection.digest] = difference
        if len(self._at_hand) > _AT_HAND:
            self._at_hand.popitem(last=False)
        if difference != ALIKE:
            self.on_kept()


def _difference(rejection: Rejection, serving: Generation | None) -> Difference:
    if serving is None:
        return ALIKE
    before, after = serving.candidate.snapshot, rejection.snapshot
    fields = field_differences(before, after) if rejection.manifest is not None else ()
    text = text_difference(before, after)
    return Difference(serving.name.short, tuple(fields), text)


def _summary(first: Diagnostic) -> str:
    return clean_line(f"{first.code} {first.message}")


def _told(refused: Refused) -> Told:
    kept = orjson.loads(refused.difference)
    return Told(
        id=refused.capability_id,
        path=refused.path,
        digest=refused.digest,
        at=refused.at,
        summary=refused.summary,
        diagnostics=tuple(orjson.loads(refused.diagnostics)),
        difference=Difference(kept["against"], tuple(kept["fields"]), kept["text"]),
    )
