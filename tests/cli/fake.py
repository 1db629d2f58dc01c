"""An operator that plays a script: what a command answers is written down beforehand, what was asked is kept."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.main import run
from evatui.control.opening import OpenMode
from evatui.control.snapshot import ConsoleSnapshot, Cursor

CAPABILITIES = {
    "capabilities": [
        {
            "id": "topic-normalize",
            "name": "Topic",
            "kind": "lua_tool",
            "version": "1.0.0",
            "enabled": True,
            "priority": 50,
            "capabilities": ["topic.normalize"],
            "state": "Active",
            "marks": [],
            "generation": "topic-normalize@1.0.0+build.20260101.001",
            "number": "g3",
            "in_flight": 2,
            "reason": "",
            "on_disk": {"status": "rejected", "digest": "ab"},
            "active": {"digest": "cd"},
        }
    ]
}
CALLED = {
    "response": {"ok": True, "result": {"topic": "größe"}, "meta": None, "error": None},
    "request_id": "req_1",
    "trace_id": "tr_1",
    "capability_id": "topic-normalize",
    "generation": "topic-normalize@1.0.0+build.20260101.001",
    "duration_ms": 0.8,
}


def refused(kind: str, origin: str = "kernel") -> dict[str, Any]:
    """A call that was answered by an error."""
    error = {"kind": kind, "message": "no", "retryable": True, "generation": "g", "details": {"origin": origin}}
    return CALLED | {"response": {"ok": False, "result": None, "meta": None, "error": error}}


def plan(*actions: str, applied: bool = False) -> dict[str, Any]:
    """What a reload of one capability for each of ``actions`` would answer."""
    blank = {"from": None, "to": None, "change_class": "hot", "diff": [], "examples": [], "diagnostics": []}
    changes = [blank | {"id": f"c{n}", "action": action} for n, action in enumerate(actions)]
    return {"plan_digest": "d1", "applied": applied, "changes": changes}


@dataclass
class FakeOperator:
    """``answers``: a command's data, an exception to raise, or a function of the parameters."""

    answers: Mapping[str, Any]
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    opened: list[tuple[OpenMode, Path | None, Path | None]] = field(default_factory=list)
    snapshots: list[ConsoleSnapshot] = field(default_factory=list)
    cursors: list[Cursor] = field(default_factory=list)
    notify: Callable[[], None] = print
    closed: int = 0
    readonly: bool = False

    async def connect(self, mode: OpenMode, workspace: Path | None, state_dir: Path | None) -> FakeOperator:
        self.opened.append((mode, workspace, state_dir))
        return self

    async def run(self, command: str, **params: Any) -> dict[str, Any]:
        self.asked.append((command, params))
        answer = self.answers[command]
        if isinstance(answer, BaseException):
            raise answer
        return answer(**params) if callable(answer) else answer

    async def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        """The next of ``snapshots``; says at once that there is one more to fetch."""
        self.cursors.append(since)
        self.notify()
        return self.snapshots.pop(0)

    def on_change(self, notify: Callable[[], None]) -> None:
        self.notify = notify

    async def close(self) -> None:
        self.closed += 1


@dataclass(frozen=True)
class Said:
    """What a command line printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        assert self.out.count("\n") == 1, "one object on one line"
        return json.loads(self.out)


class Eva:
    """Runs command lines against scripted answers."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.operator = FakeOperator({})

    def __call__(self, *words: str, stdin: bytes = b"", **answers: Any) -> Said:
        self.operator = FakeOperator({name.replace("__", "."): answer for name, answer in answers.items()})
        kept, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
        try:
            code = run(words, self.operator.connect)
        finally:
            sys.stdin = kept
        return self._said(code)

    def real(self, *words: str) -> Said:
        """With whatever there is to connect to."""
        return self._said(run(words))

    def _said(self, code: int) -> Said:
        out, err = self._capsys.readouterr()
        return Said(code, out, err)
