"""Every edge that generations took, newest last: what the state machine drawing lights up."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass

from evatui.kernel.model.lifecycle import IllegalTransition, State, check_transition

__all__ = ["Edge", "Trail"]

_KEPT = 50
_KEPT_PER_CAPABILITY = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """``old`` is None where a generation begins; ``number`` is empty before it has one."""

    seq: int
    at: str
    id: str
    generation: str
    number: str
    old: State | None
    new: State
    actor: str
    reason: str


class Trail:
    """Checks each edge against the transition table and counts generations per state."""

    def __init__(self) -> None:
        self._seq = 0
        self._counts: Counter[State] = Counter()
        self._recent: deque[Edge] = deque(maxlen=_KEPT)
        self._own: dict[str, deque[Edge]] = {}

    def step(
        self,
        capability_id: str,
        old: State | None,
        new: State,
        *,
        at: str,
        actor: str,
        generation: str = "",
        number: str = "",
        reason: str = "",
    ) -> Edge:
        """Records ``old -> new``. Raises `IllegalTransition` for an edge that does not exist.

        A generation begins (``old`` None) in PendingValidation, nowhere else.
        """
        if old is not None:
            check_transition(old, new)
            self._counts[old] -= 1
        elif new is not State.PENDING:
            raise IllegalTransition(State.UNREGISTERED, new)
        self._counts[new] += 1
        self._seq += 1
        edge = Edge(
            seq=self._seq,
            at=at,
            id=capability_id,
            generation=generation,
            number=number,
            old=old,
            new=new,
            actor=actor,
            reason=reason,
        )
        self._recent.append(edge)
        self._own.setdefault(capability_id, deque(maxlen=_KEPT_PER_CAPABILITY)).append(edge)
        return edge

    @property
    def counts(self) -> Mapping[State, int]:
        return {state: self._counts[state] for state in State}

    @property
    def recent(self) -> tuple[Edge, ...]:
        return tuple(self._recent)

    def last_of(self, capability_id: str) -> int:
        """The number of the newest edge of a capability, 0 where it has none."""
        own = self._own.get(capability_id)
        return own[-1].seq if own else 0

    def of(self, capability_id: str) -> tuple[Edge, ...]:
        return tuple(self._own.get(capability_id, ()))
