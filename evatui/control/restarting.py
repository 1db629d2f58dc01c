"""The runtime anew in the same process: drained, closed, built again from what the disk holds then."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any

from evatui.control.desk import Desk
from evatui.control.failing import CommandFailed
from evatui.control.layouts import layout_of
from evatui.control.standings import down, restarting
from evatui.control.waiting import waits_for
from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import rfc3339
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.records.causes import request
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.storage.database import StorageError
from evatui.kernel.workspace.layout import Layout
from evatui.runtime import Runtime

__all__ = ["Build", "restart"]

Build = Callable[[Layout], Awaitable[Runtime]]
"""Raises what `Runtime.serve` does, and `CommandFailed` where there is to be none any more."""


async def restart(old: Runtime, desk: Desk, build: Build, actor: Actor) -> tuple[Runtime, dict[str, Any]]:
    """The runtime that takes the place of ``old``, and the receipt.

    That is ``{action, pid, from, to, applied, waiting, settings, cut, at, actor, duration_ms}``: ``from`` and ``to``
    are ``{since, mode}``; ``applied`` has the ids whose approved version had waited for this, ``waiting`` those that
    wait still; ``settings`` names the blocks of ``eva.yaml`` that changed.

    ``old`` may be closed already, where an earlier attempt came no further. Raises `CommandFailed`: with the
    diagnostics of an ``eva.yaml`` that cannot be read, then nothing has stopped; or ``Unavailable``, then nothing
    serves and ``desk`` says why.
    """
    clock, within = old.clock, old.layout.runtime.shutdown_timeout_ms
    started = clock.monotonic()
    layout = await asyncio.to_thread(layout_of, old.layout.root, old.layout.state_dir)
    waited = _approved(old)
    desk.shut(restarting(rfc3339(clock.now())))
    old.bus.emit("/runtime/restarting", {"calls": old.dispatch.in_flight}, actor=actor, cause=request())
    try:
        await desk.settled(within / 1000)
        spent = (clock.monotonic() - started) * 1000
        cut = await old.close(max(0, round(within - spent)))
        new = await build(layout)
    except Exception as problem:
        failed = _unbuilt(problem)
        desk.shut(down(failed.message, rfc3339(clock.now())))
        old.bus.emit("/runtime/restart_failed", {"cause": failed.message}, actor=actor, cause=request())
        raise failed from problem
    told = {
        "applied": _serving(new, waited),
        "waiting": sorted(_approved(new)),
        "settings": [one.name for one in fields(Layout) if getattr(old.layout, one.name) != getattr(layout, one.name)],
        "cut": cut,
        "duration_ms": round((clock.monotonic() - started) * 1000, 3),
    }
    new.registry.journal.write(Code.RUNTIME_RESTARTED, Outcome.OK, actor, **told)
    new.bus.emit("/runtime/restarted", told, actor=actor, cause=request())
    receipt = {
        "action": "restart",
        "pid": os.getpid(),
        "from": _described(old),
        "to": _described(new),
        "at": rfc3339(clock.now()),
        "actor": actor.id or actor.type.value,
    }
    return new, receipt | told


def _described(runtime: Runtime) -> dict[str, str]:
    return {"since": rfc3339(runtime.since), "mode": runtime.layout.runtime.mode}


def _approved(runtime: Runtime) -> dict[str, str]:
    """The digests of the versions that are approved and wait for a restart, by id."""
    waiting = {key: one.held for key, one in runtime.registry.capabilities.items() if not one.gone}
    return {
        key: held.digest
        for key, held in waiting.items()
        if held is not None and held.ruling is not None and waits_for(held.ruling) == "restart"
    }


def _serving(runtime: Runtime, digests: dict[str, str]) -> list[str]:
    capabilities = runtime.registry.capabilities
    return sorted(
        key
        for key, digest in digests.items()
        if key in capabilities and any(one.candidate.terms == digest for one in capabilities[key].serving)
    )


def _unbuilt(problem: Exception) -> CommandFailed:
    """Nothing of a defect's own text: it may hold anything."""
    match problem:
        case CommandFailed():
            return problem
        case StorageError():
            cause = str(problem)
        case CallFailed():
            cause = problem.error.message
        case OSError():
            cause = f"the workspace or its state folder cannot be used ({problem.strerror})"
        case _:
            cause = f"something went wrong inside the kernel ({type(problem).__name__})"
    suggestion = "mend that, then: eva runtime restart"
    return CommandFailed(ErrorKind.UNAVAILABLE, cause, suggestion=suggestion)
