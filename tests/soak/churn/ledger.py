"""What may answer a capability, and what must never happen: nothing is lost, nothing doubled, nothing mixed."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evatui.kernel.model.call import CallReport
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.event import Event
from tests.soak.churn.many import EFFECT

__all__ = ["Expected", "Once", "Stage"]

_KNOWN = 32
_CALL_CODES = frozenset({"call.ok", "call.error", "call.denied", "call.unknown"})


@dataclass(frozen=True, slots=True)
class Stage:
    """From some moment on ``versions`` may answer, and a call may end in one of ``excused``."""

    versions: frozenset[int]
    excused: frozenset[ErrorKind] = frozenset()


_Window = list[tuple[int, Stage]]


class Expected:
    """The stages of one capability, one after the other. What has answered once leaves all stages before it behind."""

    def __init__(self, capability_id: str, version: int) -> None:
        self.problems: list[str] = []
        self._id = capability_id
        self._stages = deque([Stage(frozenset({version}))])
        self._first = 0
        self._settled = 0
        self._running = Counter[int]()
        self._version_of: dict[str, int] = {}

    @property
    def version(self) -> int:
        """The one that serves, where there is no doubt of it."""
        (version,) = self._stages[-1].versions
        return version

    def may(self, versions: Iterable[int], *excused: ErrorKind) -> None:
        """From now on, besides what was expected before."""
        self._stages.append(Stage(frozenset(versions), frozenset(excused)))

    def must(self, version: int, *excused: ErrorKind) -> None:
        """From now on, and nothing of what was expected before; of calls that begin after this."""
        self.may([version], *excused)
        self._settle(self._end - 1)

    def excuse(self, kind: ErrorKind) -> None:
        """Calls that run now may end in ``kind``; those that begin after this may not."""
        last = self._stages[-1]
        self.may(last.versions, *last.excused, kind)
        self.may(last.versions, *last.excused)
        if self._settled == self._end - 3:
            self._settle(self._end - 1)

    def begin(self) -> int:
        """A call begins; what this returns goes to `judge`."""
        self._running[self._settled] += 1
        return self._settled

    def judge(self, report: CallReport, number: int, began: int) -> int | None:
        """The version that answered the call; None where it ended in an error that was to be expected, or not."""
        window = [(at, self._stages[at - self._first]) for at in range(began, self._end)]
        self._running[began] -= 1
        error = report.response.error
        if error is None:
            return self._answered(report.response.result, str(report.generation), number, window)
        if not any(error.kind in stage.excused for _, stage in window):
            self.problems.append(f"{self._id}: lost, {error.kind}: {error.message}; {_shown(window)}")
        return None

    def _answered(self, result: Mapping[str, Any], generation: str, number: int, window: _Window) -> int:
        version: int = result["head"]
        if result["n"] != number:
            self.problems.append(f"{self._id}: call {number} was answered as call {result['n']}")
        fitting = [at for at, stage in window if version in stage.versions]
        if fitting:
            self._settle(fitting[0])
        else:
            self.problems.append(f"{self._id}: version {version} answered; {_shown(window)}")
        known = self._version_of.setdefault(generation, version)
        if result["tail"] != version or known != version:
            self.problems.append(f"{self._id}: mixed, {generation}: {version}, tail {result['tail']}, before {known}")
        if len(self._version_of) > _KNOWN:
            del self._version_of[next(iter(self._version_of))]
        return version

    @property
    def _end(self) -> int:
        return self._first + len(self._stages)

    def _settle(self, at: int) -> None:
        """What nobody can ask for any more is forgotten."""
        self._settled = max(self._settled, at)
        self._running = +self._running
        needed = min((*self._running, self._settled))
        while self._first < needed:
            self._stages.popleft()
            self._first += 1


def _shown(window: _Window) -> str:
    return "expected: " + "; ".join(f"{sorted(s.versions)[-3:]} {sorted(s.excused)}" for _, s in window)


class Once:
    """Counts by the number of a call: its effects and its records. Every count is to be one, or none where it was cut.

    Fed from any thread. A byte a call, so that it does not grow while it is watched whether anything else does.
    """

    def __init__(self, most: int) -> None:
        self._effects = bytearray(most)
        self._records = bytearray(most)
        self.cut = Counter[str]()

    def told(self, event: Event) -> None:
        if event.topic == EFFECT:
            self._effects[event.payload["n"]] += 1

    def recorded(self, record: Mapping[str, Any]) -> None:
        if record["code"] in _CALL_CODES:
            self._records[int(record["request_id"].removeprefix("req_"))] += 1
        elif record["code"] == "capability.drained":
            self.cut["by drains"] += record["details"]["cut"]

    def problems(self, answered: Iterable[int], others: Iterable[int]) -> list[str]:
        """``answered`` are the numbers of the calls with a result, ``others`` those of the calls without one."""
        found = Counter[str]()
        for number in answered:
            if self._effects[number] != 1:
                found[f"answered with {self._effects[number]} effects"] += 1
            if self._records[number] != 1:
                found[f"answered with {self._records[number]} records"] += 1
        for number in others:
            if self._effects[number] > 1:
                found[f"ended with {self._effects[number]} effects"] += 1
            if self._records[number] != 1:
                found[f"ended with {self._records[number]} records"] += 1
        return [f"{count} calls {what}" for what, count in found.items()]
