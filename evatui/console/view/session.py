"""What was done in this session: by this console, and by whoever else operates the same runtime."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evatui.console.view.answer import error_of, response_of
from evatui.console.view.ink import Ink, Line, line, wrap
from evatui.console.view.outcome import target_of
from evatui.console.view.sent import Sent
from evatui.console.view.table import Column, Row
from evatui.console.view.undo import Undo, undo_of
from evatui.console.view.words import Look, clock
from evatui.control.commands import COMMANDS
from evatui.control.snapshot import AuditRow

__all__ = ["SESSION_COLUMNS", "Done", "Session", "session_rows", "told_lines"]

_MOST = 500
_PEOPLE = frozenset({"user", "cli", "mcp"})
_ORDERS: Mapping[str, tuple[int, str]] = {
    "capability.disabled": (2, "capability disable"),
    "capability.enabled": (2, "capability enable"),
    "capability.rolled_back": (2, "capability rollback"),
    "capability.retried": (2, "capability retry"),
    "capability.approved": (2, "capability approve"),
    "capability.approval_revoked": (2, "capability approve --revoke"),
    "canary.promoted": (2, "capability promote"),
    "canary.aborted": (1, "capability abort"),
    "canary.paused": (2, "capability pause"),
    "canary.resumed": (2, "capability resume"),
    "state.deleted": (2, "state delete"),
    "workspace.trusted": (2, "trust"),
    "workspace.distrusted": (2, "trust --revoke"),
    "runtime.restarted": (2, "runtime restart"),
    "runtime.frozen": (2, "freeze"),
    "runtime.thawed": (2, "thaw"),
    "capability.published": (1, "capability reload"),
    "capability.drained": (0, "capability drain"),
}
"""Which command leaves which record, and which of several records of one request tells the most."""

SESSION_COLUMNS = (
    Column(title="WHEN", width=8),
    Column(title="WHO", width=8, flex=1),
    Column(title="WHAT", width=18, flex=3),
    Column(title="ON", width=14, flex=3),
    Column(title="OUTCOME", width=12, flex=2),
    Column(title="UNDO", width=5, need=70),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """``command`` is the ``eva`` line; ``undo`` only of what this console did last of a thing."""

    at: str
    who: str
    what: str
    target: str
    outcome: str
    well: bool
    request_id: str
    command: str
    rank: int = 9
    undo: Undo | None = None
    undone: bool = False


class Session:
    """Keeps the newest 500, in the order in which they came."""

    def __init__(self) -> None:
        self._done: dict[str, Done] = {}

    @property
    def all(self) -> Sequence[Done]:
        return tuple(self._done.values())

    def find(self, request_id: str) -> Done | None:
        return self._done.get(request_id)

    def add(self, sent: Sent, at: str) -> None:
        """An order or a call of this console; what only looked is not kept."""
        known = COMMANDS.get(sent.command)
        if known is None or not (known.effects or known.danger):
            return
        said, well = _came_of(sent)
        undo = undo_of(sent)
        if sent.command == "capability.undo" and well:
            self._used(str(sent.params.get("id")))
        self._keep(
            Done(
                at=at,
                who="you",
                what=sent.command.partition(".")[2],
                target=target_of(sent.params),
                outcome=said,
                well=well,
                request_id=sent.request_id,
                command=sent.line,
                undo=undo,
            )
        )

    def learn(self, rows: Iterable[AuditRow]) -> None:
        """Orders of other people, from the records that they left."""
        for row in rows:
            if (done := _of_record(row)) is None:
                continue
            before = self._done.get(done.request_id)
            if before is None or before.rank < done.rank:
                self._keep(done)

    def _used(self, thing: str) -> None:
        """The last undo of a thing that there was to take back is taken back."""
        for key, done in reversed(self._done.items()):
            if done.undo is not None and done.undo.action == "undo" and done.undo.thing == thing:
                self._done[key] = replace(done, undo=None, undone=True)
                return

    def _keep(self, done: Done) -> None:
        self._done[done.request_id] = done
        while len(self._done) > _MOST:
            del self._done[next(iter(self._done))]


def _came_of(sent: Sent) -> tuple[str, bool]:
    if sent.failed is not None:
        return str(sent.failed.kind), False
    data = sent.data or {}
    if sent.command == "capability.call" and not response_of(data).get("ok"):
        return str(error_of(data).get("kind")), False
    return "done", True


def _of_record(row: AuditRow) -> Done | None:
    order = _ORDERS.get(row.code)
    actor: Mapping[str, Any] = row.record.get("actor") or {}
    if order is None or not row.request_id or actor.get("type") not in _PEOPLE:
        return None
    rank, words = order
    return Done(
        at=row.at,
        who=row.actor,
        what=words.removeprefix("capability ").partition(" ")[0],
        target=row.capability_id,
        outcome=row.error_kind or ("done" if row.outcome == "ok" else row.outcome),
        well=row.outcome == "ok",
        request_id=row.request_id,
        command=f"eva {words} {row.capability_id}".rstrip(),
        rank=rank,
    )


def session_rows(session: Session, look: Look) -> list[Row]:
    """The newest last."""
    return [_row(done, look) for done in session.all]


def _row(done: Done, look: Look) -> Row:
    undo = line(("undone", Ink.DIM)) if done.undone else line(("z", Ink.KEY)) if done.undo else ()
    return Row(
        key=done.request_id,
        cells=(
            line((clock(done.at, look), Ink.DIM)),
            line((done.who, Ink.STRONG if done.who == "you" else Ink.INFO)),
            line(done.what),
            line(done.target),
            line((done.outcome, Ink.OK if done.well else Ink.BAD)),
            undo,
        ),
        order=(),
    )


def told_lines(done: Done | None, width: int) -> Iterator[Line]:
    """The ``eva`` line of one, and its request."""
    if done is None:
        return
    yield from wrap(line((done.command, Ink.INFO)), width, "    ")
    yield line((done.request_id, Ink.DIM))
