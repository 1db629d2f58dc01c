"""Shadow load: a candidate is compiled, started and asked for its health before anything switches."""

from __future__ import annotations

from collections.abc import Callable

from evatui.kernel.admission.admit import function_line, function_near, lua_rejection
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.host.host import BoundHost, CallScope, Host
from evatui.kernel.lua.engine import Engine, LoadedProgram, LoadFailed
from evatui.kernel.lua.outcome import BadValue, Outcome, Raised, Returned, Verdict
from evatui.kernel.lua.program import Chunk, Program
from evatui.kernel.lua.trial import TURN_S
from evatui.kernel.model.call import KERNEL
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.ids import new_id
from evatui.kernel.model.permissions import Permissions
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.warden import Warden
from evatui.kernel.storage.carried_state import CarriedState
from evatui.kernel.storage.database import StorageError

__all__ = ["SHADOW_SECONDS", "Shadow", "broken"]

SHADOW_SECONDS = 5.0
"""Load plus health run under the manifest's limits and at most this long."""
_FAIR = 0.5
"""The part of its time that a call must have had for its timeout to count: callers and queues may leave it less."""


class Shadow:
    """Loads candidates where ``warden`` wants them.

    ``permissions`` gives the effective grant of a candidate at the time of asking.
    """

    def __init__(
        self, engine: Engine, host: Host, clock: Clock, permissions: Callable[[Candidate], Permissions], warden: Warden
    ) -> None:
        self._engine = engine
        self._warden = warden
        self._host = host
        self._clock = clock
        self._permissions = permissions

    async def load(self, candidate: Candidate) -> LoadedProgram | Rejection:
        """Compiles and runs the script's top level; the entry and the health check must exist."""
        try:
            return await self._engine.load(
                _program(candidate),
                timeout_s=_allowed(candidate),
                isolation=self._warden.place(candidate),
                on_strike=self._warden.strikes_of(candidate),
            )
        except LoadFailed as failed:
            if failed.kind is ErrorKind.UNAVAILABLE:
                return _refused(candidate, Reason.ISOLATION_UNAVAILABLE, failed.message, None, None)
            script = candidate.snapshot.files[candidate.manifest.lua.script].data
            near = function_near(script, failed.missing) if failed.missing else None
            told = f"{failed.message}; did you mean {near}?" if near else failed.message
            at = _named(candidate, failed.missing)
            return _refused(candidate, Reason.LUA_LOAD_FAILED, told, failed.file, failed.line, at)

    def settle(self, candidate: Candidate, program: LoadedProgram) -> None:
        """About to serve: where it belongs may have changed while it was loading."""
        self._warden.settle(candidate, program)

    async def health(
        self, candidate: Candidate, program: LoadedProgram, generation: str, spent_s: float = 0.0
    ) -> Rejection | None:
        """Runs the health check on the candidate itself, with a host that answers reads and refuses effects.

        ``spent_s`` is what loading has used of the time that both have together.
        """
        if candidate.manifest.lua.health_check is None:
            return None
        allowed = max(0.0, _allowed(candidate) - spent_s)
        host = self.bind(candidate, generation, self._clock.monotonic() + TURN_S + allowed)
        return _unhealthy(candidate, await program.health(allowed_s=allowed, host=host))

    async def migrate(
        self,
        candidate: Candidate,
        program: LoadedProgram,
        generation: str,
        entry: str,
        carried: CarriedState,
        spent_s: float,
    ) -> tuple[Rejection | None, float]:
        """Runs a migration into ``carried``, with a host that answers reads and refuses all other effects.

        ``spent_s`` is what the steps before it have used of the time that all have together, and comes back with
        what this one used.
        """
        allowed = max(0.0, _allowed(candidate) - spent_s)
        host = self.bind(candidate, generation, self._clock.monotonic() + TURN_S + allowed, carried)
        rows = [{"key": row.key, "value": row.value, "version": row.version} for row in carried.old]
        calls = candidate.manifest.limits.host_calls
        outcome, spent = await program.migrate(entry, rows, allowed_s=allowed, host=host, host_calls=calls)
        if isinstance(outcome, Returned) and not _says_no(outcome.value):
            return None, spent_s + spent
        return _failed(candidate, outcome, Reason.MIGRATION_FAILED, entry), spent_s + spent

    def bind(
        self, candidate: Candidate, generation: str, deadline: float, carried: CarriedState | None = None
    ) -> BoundHost:
        """A host for a version that does not serve: it answers reads and refuses effects, but into ``carried``."""
        return self._host.bind(
            lambda: CallScope(
                capability_id=candidate.manifest.id,
                generation=generation,
                request_id=new_id("health"),
                trace_id=new_id("trace"),
                deadline=deadline,
                permissions=lambda: self._permissions(candidate),
                limits=candidate.manifest.limits,
                schema_version=candidate.manifest.state_schema,
                carried=carried,
                effects=False,
                caller=KERNEL,
            )
        )


def _allowed(candidate: Candidate) -> float:
    """Seconds that load and health together may take."""
    return min(SHADOW_SECONDS, candidate.manifest.limits.timeout_ms / 1000)


def _program(candidate: Candidate) -> Program:
    manifest, files = candidate.manifest, candidate.snapshot.files
    return Program(
        script=Chunk(manifest.lua.script, files[manifest.lua.script].data),
        modules={name: Chunk(path, files[path].data) for name, path in manifest.lua.modules.items()},
        entry=manifest.lua.entry,
        health_check=manifest.lua.health_check,
        migrations=tuple(dict.fromkeys(migration.entry for migration in manifest.migrations)),
        memory_bytes=manifest.limits.memory_bytes,
        max_output_bytes=manifest.limits.max_output_bytes,
        concurrency=manifest.limits.concurrency,
        fair_s=manifest.limits.timeout_ms / 1000 * _FAIR,
    )


def _named(candidate: Candidate, function: str) -> str:
    """Where the manifest names a function that the script does not have."""
    lua = candidate.manifest.lua
    if function in ("", lua.entry):
        return "lua.entry"
    return "lua.health_check" if function == lua.health_check else "state.migrations"


def _unhealthy(candidate: Candidate, outcome: Outcome) -> Rejection | None:
    if isinstance(outcome, Returned) and isinstance(outcome.value, dict) and outcome.value.get("ok") is True:
        return None
    return _failed(candidate, outcome, Reason.HEALTH_FAILED, candidate.manifest.lua.health_check or "")


def _says_no(value: object) -> bool:
    return value is False or (isinstance(value, dict) and "ok" in value and value["ok"] is not True)


def _failed(candidate: Candidate, outcome: Outcome, reason: Reason, function: str) -> Rejection:
    """``function`` is the one that ended in ``outcome``: shown, where that names no place of its own."""
    file: str | None = candidate.manifest.lua.script
    line = function_line(candidate.snapshot.files[candidate.manifest.lua.script].data, function)
    match outcome:
        case Returned(value):
            message = _told(value, function)
        case Raised():
            message = outcome.message
            file, line = (outcome.file, outcome.line) if outcome.file is not None else (file, line)
        case Verdict(kind, text):
            message = f"{kind}: {text}"
        case BadValue(path, text):
            message = f"the answer cannot be read at {path}: {text}"
    return _refused(candidate, reason, message, file, line)


def _refused(
    candidate: Candidate, reason: Reason, message: str, file: str | None, line: int | None, at: str = ""
) -> Rejection:
    """The place is shown with its line and a caret, so the message need not begin with it, as Lua's do."""
    told = message.removeprefix(f"{file}:{line}: ")
    return lua_rejection(candidate, reason=reason, message=told, file=file, line=line, at=at)


def _told(value: object, function: str) -> str:
    """The reason that a function gave in one of the usual places."""
    if not isinstance(value, dict):
        return f"{function} must return {{ok = true}}"
    error = value.get("error")
    given = error.get("message") if isinstance(error, dict) else error
    told = given if given is not None else value.get("message", value.get("reason"))
    return clean_line(told) if isinstance(told, str) else f"{function} did not return {{ok = true}}"


def broken(candidate: Candidate, error: Exception) -> Rejection:
    """A load that failed in the kernel itself: refused like any other, so that the old version goes on."""
    message = f"the kernel could not load it ({type(error).__name__}); this is a defect of evatui"
    if isinstance(error, StorageError):
        message = f"its generation could not be recorded, and is tried again: {error}"
    return lua_rejection(candidate, reason=Reason.LUA_LOAD_FAILED, message=message, file=None, line=None)
