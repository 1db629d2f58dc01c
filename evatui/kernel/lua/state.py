"""One Lua state with one program in it."""

from __future__ import annotations

import secrets
from enum import IntEnum
from typing import Any, ClassVar, Final

import lupa.lua54 as lua54
import ormsgpack

from evatui.kernel.lua.prelude import BOOT, compiled
from evatui.kernel.lua.program import Program
from evatui.kernel.model.manifest import Isolation

__all__ = ["Answer", "Operation", "State", "packed"]


class Operation(IntEnum):
    LOAD = 1
    ENTER = 2
    GO_ON = 3
    AGAIN = 4


_LOAD, _AGAIN = int(Operation.LOAD), int(Operation.AGAIN)


class Answer(IntEnum):
    """What an operation ends in; the parts that come with it are in prelude/program.lua."""

    RETURNED = 1
    ASKED = 2
    RAISED = 3
    NO_MEMORY = 4
    OVERSIZED = 5
    BAD_VALUE = 6
    MISSING = 7
    BROKEN = 8
    REFUSED = 9
    RETURNED_ROW = 10
    ASKED_ROW = 11
    LOST = 12
    """Never from a state itself: it has gone. With the reason, which is for people."""
    UNHEARD = 13
    """Never from a state itself: it had gone before it heard what it was asked. With the reason."""


UNLIMITED: Final = 0
NOTHING: Final = 1
_NO_MEMORY: Final = (int(Answer.NO_MEMORY),)


def _deny(*_: Any) -> Any:
    raise AttributeError("no Python object has attributes here")


class State:
    """A `StatePort` in this process.

    lupa hands arguments over outside of Lua's protected calls: at the memory limit that would abort the
    whole process. So each entry has two phases: bytes go in without a limit and without a kill, and
    then the program runs, started by an integer, which takes no memory.

    No lock keeps a kill out of the first phase, but the order of four steps. A kill says that the state is dead,
    then looks whether it runs, and only then takes its memory. An entry looks whether the state is dead before it
    touches it, and again after it has said that it runs. So a kill that finds it running was seen by no earlier look,
    and the entry under way is the last one, however late the memory is taken.
    """

    __slots__ = ("__weakref__", "_inbox", "_killed", "_limit", "_lua", "_run", "_running")

    isolation: ClassVar = Isolation.IN_PROCESS

    def __init__(self, memory_bytes: int) -> None:
        self._lua = lua54.LuaRuntime(
            encoding="utf-8",
            register_eval=False,
            register_builtins=False,
            unpack_returned_tuples=False,
            attribute_handlers=(_deny, _deny),
            max_memory=UNLIMITED,
        )
        seeds = [int.from_bytes(secrets.token_bytes(7)) for _ in range(4)]
        self._inbox, self._run = self._lua.execute(BOOT, *seeds, *compiled(), mode="t")
        self._limit = self._lua.get_memory_used(total=True) + memory_bytes + memory_bytes // 8
        self._running = False
        self._killed = False

    def load(self, program: Program) -> tuple[Any, ...]:
        return self.enter(_LOAD, packed(program))

    def enter(self, operation: int, data: bytes) -> tuple[Any, ...]:
        while True:
            try:
                return self._enter(operation, data)
            except UnicodeDecodeError:  # in a row, which nobody looked through: now it is, and may go on to another
                operation, data = _AGAIN, b""

    def _enter(self, operation: int, data: bytes) -> tuple[Any, ...]:
        if self._killed:
            return _NO_MEMORY
        lua = self._lua
        lua.set_max_memory(UNLIMITED)
        self._inbox[1] = data
        lua.set_max_memory(self._limit + len(data), total=True)
        self._running = True
        try:
            answer = _NO_MEMORY if self._killed else self._run(operation)
        except lua54.LuaError:  # also LuaMemoryError: the protected call itself found no memory
            return _NO_MEMORY
        finally:
            self._running = False
        return answer if type(answer) is tuple else (answer,)

    def kill(self) -> None:
        """From now on nothing can be allocated."""
        self._killed = True
        if self._running:
            self._lua.set_max_memory(NOTHING, total=True)

    def sound(self) -> bool:
        return not self._killed

    def descriptor(self) -> None:
        """There is nothing to lose."""

    def ran_s(self) -> float:
        return 0.0

    def close(self) -> None:
        """A full state takes some milliseconds to free."""
        self._inbox = self._lua = self._run = None


def packed(program: Program) -> bytes:
    """What the operation ``LOAD`` takes."""
    spec = {
        "script": _chunk(program.script.name, program.script.source),
        "modules": {name: _chunk(chunk.name, chunk.source) for name, chunk in program.modules.items()},
        "host": list(program.host_functions),
        "entries": list(program.entries),
        "max_output": program.max_output_bytes,
        "memory": program.memory_bytes,
    }
    return ormsgpack.packb(spec)


def _chunk(name: str, source: bytes) -> dict[str, Any]:
    return {"name": name, "source": source}
