"""The sandbox that handlers run in: Lua 5.4 states, the threads that run them, and what crosses between.

A program is one generation's script and modules; `Engine.load` makes it callable. Nothing but bytes
and integers ever enters a Lua state, and nothing but texts, numbers, booleans and None leaves it.
"""

from __future__ import annotations

from evatui.kernel.lua.engine import Engine
from evatui.kernel.lua.loaded import LoadedProgram
from evatui.kernel.lua.outcome import BadValue, HostPort, LoadFailed, Outcome, Raised, Returned, Verdict
from evatui.kernel.lua.program import HOST_FUNCTIONS, Chunk, Program
from evatui.kernel.lua.values import AMBIGUOUS, Unpackable, resolve_empty
from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.lua.worker.workers import Workers

__all__ = [
    "AMBIGUOUS",
    "HOST_FUNCTIONS",
    "BadValue",
    "Chunk",
    "Engine",
    "HostPort",
    "LoadFailed",
    "LoadedProgram",
    "Outcome",
    "Program",
    "Raised",
    "Returned",
    "Unpackable",
    "Verdict",
    "Workers",
    "resolve_empty",
    "sandbox_facts",
]
