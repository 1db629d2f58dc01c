"""Where commands arrive: each name of the table to what it does. Runs on the kernel's loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any

from evatui.control.answers import status
from evatui.control.approving import Approving
from evatui.control.client_sessions import ClientSessions, on_line
from evatui.control.clients import Clients
from evatui.control.commands import COMMANDS, is_followed
from evatui.control.devices import Devices
from evatui.control.failing import CommandFailed
from evatui.control.following import following
from evatui.control.naming import known, meant_by_call, suggestion
from evatui.control.operator import OnProgress, lost
from evatui.control.orders import orders
from evatui.control.outside import outside
from evatui.control.params import (
    Params,
    read_ids,
    read_needed,
    read_number,
    read_request_id,
    read_short,
    read_tags,
    read_text,
)
from evatui.control.queries import Queries
from evatui.control.routes import routed
from evatui.control.snapshot import ConsoleSnapshot, Cursor, Indicator
from evatui.control.standings import SERVING, refused
from evatui.control.stored import Stored
from evatui.control.testing import kept_example, tested
from evatui.control.view import View
from evatui.kernel.model.call import Actor, CallRequest
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.causes import ordered_by
from evatui.kernel.registry.receipt import guard
from evatui.kernel.registry.reload import Plan
from evatui.kernel.storage.database import StorageError
from evatui.runtime import Runtime

__all__ = ["Desk"]

_log = logging.getLogger(__name__)

_ANSWERED_WHILE_SHUT = frozenset({"status", "runtime.restart", "mcp.identify", *filter(is_followed, COMMANDS)})
_NOT_WAITED_FOR = frozenset({"capability.call", "mcp.call", "runtime.restart"})
"""Calls are drained in their own way."""

Restart = Callable[[Actor], Awaitable[dict[str, Any]]]
Answer = Awaitable[dict[str, Any]]


class Desk:
    """Stays, and with it whoever is attached, while runtimes come and go: `serve` is the next one.

    ``socket`` is the address that the runtime listens at, None where it does not. ``restart`` is what the command of
    that name does.
    """

    def __init__(self, runtime: Runtime, socket: str | None = None, restart: Restart | None = None) -> None:
        self._socket = socket
        self._restart = restart
        self._running: Counter[str] = Counter()
        self._quiet = asyncio.Event()
        self._sessions = ClientSessions(runtime.clock)
        self.mcp = ""
        """Where MCP clients reach it over HTTP, empty where they do not."""
        self.consoles: Callable[[], tuple[str, ...]] = tuple
        self.serve(runtime)

    def serve(self, runtime: Runtime) -> None:
        """From now on commands go to ``runtime``."""
        self._runtime = runtime
        self.standing = SERVING
        self._view = View(runtime)
        self._ended = runtime.clock.monotonic()
        self._work: dict[str, Callable[[Params, Actor], Answer]] = {
            "status": self._status,
            "capability.call": self._call,
            "call.cancel": self._cancel,
            "capability.test": self._test,
            "capability.keep_example": lambda params, actor: kept_example(runtime, params),
            "capability.plan": self._plan,
            "capability.reload": self._reload,
            "capability.route": self._route,
            "runtime.restart": self._anew,
            "runtime.freeze": self._freeze,
            "runtime.thaw": self._thaw,
            **Approving(runtime).work,
            **Queries(runtime).answers,
            **orders(runtime),
            **outside(runtime),
            **Stored(runtime).work,
            **Clients(runtime, self._sessions).work,
            **Devices(runtime).work,
        }

    def shut(self, standing: Indicator) -> None:
        """From now on commands are refused with what ``standing`` says; those that look at it are answered."""
        self.standing = standing

    async def settled(self, within_s: float) -> None:
        """Waits for the commands that run, but for calls and restarts, and no longer than that."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while any(count for name, count in self._running.items() if name not in _NOT_WAITED_FOR):
                    self._quiet.clear()
                    await self._quiet.wait()

    async def run(
        self,
        command: str,
        params: Params,
        actor: Actor,
        on_progress: OnProgress | None = None,
        line: object | None = None,
    ) -> dict[str, Any]:
        """The ``data`` of ``command``. Raises `CommandFailed`, and nothing else.

        ``on_progress`` hears, on this loop, how far the call has come. ``line`` is the connection that it came over.
        """
        request_id = ""
        self._running[command] += 1
        try:
            request_id = read_request_id(params)
            work = self._work.get(command)
            if work is None:
                raise CommandFailed(ErrorKind.INVALID_INPUT, f"no command {clean_line(command, 64)}")
            self._guard(command, params)
            if not self.standing.ok and command not in _ANSWERED_WHILE_SHUT:
                raise refused(self.standing)
            calls = self._runtime.calls
            if self.standing.ok and calls.ending and COMMANDS[command].order:
                raise CommandFailed(ErrorKind.UNAVAILABLE, "the runtime ends", retryable=True)
            dispatch = self._runtime.dispatch
            watched = following(dispatch, request_id, on_progress) if on_progress else contextlib.nullcontext()
            async with watched:
                with ordered_by(request_id), on_line(line):
                    return await work({**params, "request_id": request_id}, actor)
        except CallFailed as failed:
            error = failed.error
            raise CommandFailed(
                error.kind,
                error.message,
                retryable=error.retryable,
                suggestion=suggestion(self._runtime, command, params, error.kind),
                context=dict(error.details),
            ) from None
        except StorageError as error:
            raise CommandFailed(ErrorKind.UNAVAILABLE, str(error), retryable=error.busy) from None
        except CommandFailed:
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self.standing.ok or task is None or task.cancelling():
                raise
            raise lost(request_id, self.standing.detail) from None  # what it waited for ended with its runtime
        except Exception as error:
            _log.debug("%s failed", command, exc_info=error)
            raise CommandFailed(
                ErrorKind.INTERNAL,
                f"{command} failed inside the kernel ({type(error).__name__})",
                context={"request_id": request_id},
            ) from error
        finally:
            self._running[command] -= 1
            if not self._running[command]:
                del self._running[command]  # a name may be anybody's
            self._quiet.set()
            if not is_followed(command):  # whoever asks again and again what has changed need not be using it
                self._ended = self._runtime.clock.monotonic()

    def left(self, line: object) -> None:
        """An operator at the socket has gone, and with it whoever was there over this connection."""
        self._sessions.hung_up(line)
        self._ended = self._runtime.clock.monotonic()

    def dropped(self, why: str) -> None:
        """An operator at the socket was hung up on."""
        self._runtime.bus.emit("/runtime/operator_dropped", {"cause": why})

    @property
    def idle_s(self) -> float:
        """Seconds since the last command ended, or the last operator left the socket; 0 while a command runs."""
        return 0.0 if self._running else self._runtime.clock.monotonic() - self._ended

    def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        """The state of the last runtime where none serves."""
        found = self._view.snapshot(since)
        runtime = replace(found.runtime, mcp=self.mcp, consoles=self.consoles())
        return replace(found, runtime=runtime, standing=self.standing, clients=self._sessions.rows)

    def _guard(self, command: str, params: Params) -> None:
        """The first of two looks where a command waits for something: those look again, before they change anything."""
        seen = read_text(params, "if_generation")
        if seen is None:
            return
        ids = read_ids(params) or (read_text(params, "id") or "",)
        if not COMMANDS[command].guarded or len(ids) != 1:
            raise CommandFailed(ErrorKind.INVALID_INPUT, "if_generation is for what changes one capability")
        capability = self._runtime.registry.capabilities.get(ids[0])
        if capability is not None:  # else the command says that there is none
            guard(capability, seen)

    # -- queries ----------------------------------------------------------------------------

    async def _status(self, params: Params, actor: Actor) -> dict[str, Any]:
        mcp = {"url": self.mcp or None, "clients": len(self._sessions.rows)}
        return {**status(self._runtime, self._socket), "standing": asdict(self.standing), "mcp": mcp}

    async def _anew(self, params: Params, actor: Actor) -> dict[str, Any]:
        assert self._restart is not None  # an operator without a runtime that lasts refuses it
        return await self._restart(actor)

    async def _freeze(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{frozen: {at, actor}}``, which somebody else may have ordered before."""
        return {"frozen": asdict(await self._runtime.freezing.freeze(actor))}

    async def _thaw(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{frozen, changes}``: what had waited, as of a reload."""
        changes = await self._runtime.freezing.thaw(actor)
        return {"frozen": None, "changes": [change.to_json() for change in changes]}

    # -- calls and commands -----------------------------------------------------------------

    async def _call(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``suggestion`` is there where nothing answers to the name: what may have been meant by it."""
        request = _request(params, actor)
        report = await self._runtime.call(request)
        meant = meant_by_call(self._runtime, request, report)
        return {**report.to_json(), **({"suggestion": meant} if meant else {})}

    async def _cancel(self, params: Params, actor: Actor) -> dict[str, Any]:
        return self._runtime.cancelling.cancel(read_needed(params, "what"), actor)

    async def _route(self, params: Params, actor: Actor) -> dict[str, Any]:
        return routed(self._runtime, _request(params, actor))

    async def _test(self, params: Params, actor: Actor) -> dict[str, Any]:
        wanted = read_text(params, "id")
        return await tested(self._runtime, known(self._runtime, wanted) if wanted is not None else None, actor)

    async def _plan(self, params: Params, actor: Actor) -> dict[str, Any]:
        return _plan_json(await self._runtime.reloader.plan(read_ids(params)))

    async def _reload(self, params: Params, actor: Actor) -> dict[str, Any]:
        plan = await self._runtime.reloader.run(
            actor=actor,
            explicit=True,
            ids=read_ids(params),
            expected=read_text(params, "plan"),
            if_generation=read_text(params, "if_generation"),
        )
        return _plan_json(plan)


def _request(params: Params, actor: Actor) -> CallRequest:
    return CallRequest(
        capability=read_needed(params, "name"),
        payload=params.get("payload", {}),
        caller=actor,
        provider=read_text(params, "provider"),
        user=read_short(params, "user"),
        tags=read_tags(params),
        timeout_ms=read_number(params, "timeout_ms"),
        request_id=params["request_id"],
    )


def _plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "plan_digest": plan.digest,
        "applied": plan.applied,
        "changes": [change.to_json() for change in plan.changes],
    }
