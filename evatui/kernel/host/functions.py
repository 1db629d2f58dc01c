"""The functions of ``ctx.host``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import orjson

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.files import Files, Place
from evatui.kernel.host.glob import Glob
from evatui.kernel.host.scope import CallScope, InvokePort
from evatui.kernel.model.call import Actor, CallerType, CallRequest
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.ids import CAPABILITY_NAME
from evatui.kernel.model.permissions import covers_name, covers_topic
from evatui.kernel.model.text import clean, clean_line
from evatui.kernel.model.topic import is_kernel_topic, is_topic
from evatui.kernel.records.events import EventBus
from evatui.kernel.storage.state_store import MAX_KEY_CHARS, MISSING, StateStore
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import Layout

__all__ = ["Function", "Functions", "HostCall", "Parts"]

T = TypeVar("T")

_MAX_PATH = 4_096
_DEFAULT_BYTES = 1_048_576
_MAX_BYTES = 16_777_216
_DEFAULT_ENTRIES = 1_000
_MAX_ENTRIES = 10_000
_MAX_EVENT_BYTES = 65_536
_MAX_LOG_BYTES = 8_192
_LEVELS = ("debug", "info", "warn", "error")
_LOG_TOPIC = "/runtime/log"


@dataclass(frozen=True, slots=True)
class Parts:
    """What the host works with."""

    tree: Tree
    layout: Layout
    state: StateStore
    events: EventBus
    invoke: InvokePort
    clock: Clock


@dataclass(slots=True)
class HostCall:
    """``target`` is what it is about (a path, key, topic or capability), as far as is known; cleaned."""

    fn: str
    target: str = ""


Function = Callable[[Arguments, HostCall], Awaitable[Any]]


class Functions:
    """Those of one call. Each takes its `Arguments`, sets the target, and raises `CallFailed`."""

    def __init__(self, parts: Parts, scope: CallScope) -> None:
        self._parts = parts
        self._scope = scope
        self._files = Files(parts.tree, parts.layout)
        self._me = Actor(CallerType.CAPABILITY, scope.capability_id)

    def find(self, name: str) -> Function | None:
        """The function of that name; None where there is none."""
        found = _BY_NAME.get(name)
        return partial(found, self) if found else None

    async def _fs_read_text(self, given: Arguments, call: HostCall) -> str:
        place, max_bytes = self._place(given, call), given.take_number("max_bytes", _DEFAULT_BYTES, 1, _MAX_BYTES)
        given.done()
        return await asyncio.to_thread(self._files.read_text, place, max_bytes or 0)

    async def _fs_read_json(self, given: Arguments, call: HostCall) -> Any:
        place, max_bytes = self._place(given, call), given.take_number("max_bytes", _DEFAULT_BYTES, 1, _MAX_BYTES)
        given.done()
        return await asyncio.to_thread(self._files.read_json, place, max_bytes or 0)

    async def _fs_list(self, given: Arguments, call: HostCall) -> list[dict[str, Any]]:
        place = self._place(given, call)
        glob = Glob(given.take_text("glob", "*", limit=256))
        limit = given.take_number("limit", _DEFAULT_ENTRIES, 1, _MAX_ENTRIES)
        given.done()
        return await asyncio.to_thread(self._files.list_folder, place, glob, limit or 0)

    async def _state_get(self, given: Arguments, call: HostCall) -> dict[str, Any]:
        key, default = self._key(given, call), given.take_value("default")
        given.done()
        scope = self._scope
        value, version = await asyncio.to_thread(self._parts.state.get, scope.capability_id, scope.schema_version, key)
        return {"value": default if value is MISSING else value, "version": version}

    async def _state_set(self, given: Arguments, call: HostCall) -> dict[str, Any]:
        key, value = self._key(given, call), given.take_value("value", required=True)
        expected = given.take_number("expected_version", None, 0, 2**53)
        given.done()
        scope = self._scope
        version = await self._effect(
            call,
            lambda: self._parts.state.set(
                scope.capability_id, scope.schema_version, key, value, expected, scope.limits.state_bytes
            ),
        )
        return {"version": version}

    async def _emit_event(self, given: Arguments, call: HostCall) -> dict[str, Any]:
        topic, payload = given.take_text("topic", limit=1_100), given.take_value("payload")
        call.target = clean_line(topic, 256)
        given.done()
        payload = {} if payload is None else payload
        if not is_topic(topic):
            raise failure(ErrorKind.INVALID_INPUT, f"emit_event: {call.target} is no topic such as /repo/done")
        if not isinstance(payload, dict):
            raise failure(ErrorKind.INVALID_INPUT, "emit_event: payload must be an object")
        _check_size("emit_event: payload", payload, _MAX_EVENT_BYTES)
        if is_kernel_topic(topic):
            raise failure(ErrorKind.POLICY_DENIED, f"{call.target} is refused: only the kernel emits there")
        if not any(covers_topic(grant, topic) for grant in self._scope.permissions().events.emit):
            raise failure(ErrorKind.POLICY_DENIED, f"{call.target} is not granted: events.emit does not cover it")
        cause = self._scope.request_id
        event = await self._effect(call, lambda: self._parts.events.emit(topic, payload, actor=self._me, cause=cause))
        return {"event_id": event.event_id}

    async def _call_tool(self, given: Arguments, call: HostCall) -> dict[str, Any]:
        name, payload = given.take_text("capability", limit=256), given.take_value("payload")
        call.target = clean_line(name, 256)
        given.done()
        if not CAPABILITY_NAME.fullmatch(name):
            raise failure(ErrorKind.INVALID_INPUT, f"call_tool: {call.target} is no name of a capability")
        if not any(covers_name(grant, name) for grant in self._scope.permissions().adapters.capabilities):
            raise failure(
                ErrorKind.POLICY_DENIED, f"{call.target} is not granted: adapters.capabilities does not cover it"
            )
        self._require_effects(call)
        report = await self._parts.invoke(self._request(name, {} if payload is None else payload))
        response = report.response
        if response.error is not None and report.generation is None:
            error = response.error  # nobody was called
            raise failure(error.kind, error.message, retryable=error.retryable, **error.details)
        error_json = response.error.to_json() if response.error else None
        return {"ok": response.ok, "result": response.result, "error": error_json}

    async def _now(self, given: Arguments, call: HostCall) -> list[Any]:
        given.done()
        now = self._parts.clock.now()
        return [rfc3339(now), int(now.timestamp() * 1000)]

    async def _log(self, given: Arguments, call: HostCall) -> None:
        level, fields = given.take_text("level", "info", limit=16), given.take_value("fields")
        given.done()
        if level not in _LEVELS:
            raise failure(ErrorKind.INVALID_INPUT, f"log: the level must be one of {', '.join(_LEVELS)}")
        call.target = level
        if not isinstance(fields, dict):
            fields = {} if fields is None else {"message": fields}
        _check_size("log: fields", fields, _MAX_LOG_BYTES)
        scope = self._scope
        about = {"id": scope.capability_id, "generation": scope.generation, "request_id": scope.request_id}
        payload = {**about, "level": level, "fields": _cleaned(fields)}
        self._parts.events.emit(_LOG_TOPIC, payload, actor=self._me, cause=scope.request_id)

    def _place(self, given: Arguments, call: HostCall) -> Place:
        path, root = given.take_text("path", limit=_MAX_PATH), given.take_text("root", "workspace", limit=128)
        place = Place(root, path, self._scope.permissions().fs.read)
        call.target = place.shown
        return place

    def _key(self, given: Arguments, call: HostCall) -> str:
        key = given.take_text("key", limit=MAX_KEY_CHARS)
        call.target = clean_line(key, 256)
        return key

    def _request(self, capability: str, payload: Any) -> CallRequest:
        scope = self._scope
        return CallRequest(
            capability,
            payload,
            self._me,
            user=scope.user,
            tags=scope.tags,
            trace_id=scope.trace_id,
            ancestors=scope.ancestors,
            deadline=scope.deadline,
        )

    def _require_effects(self, call: HostCall) -> None:
        if not self._scope.effects:
            raise failure(ErrorKind.POLICY_DENIED, f"{call.fn} is refused here: a health check may not change anything")

    async def _effect(self, call: HostCall, act: Callable[[], T]) -> T:
        """Announces the effect, and only then lets it happen, both in one thread."""
        self._require_effects(call)
        return await asyncio.to_thread(self._announced, call, act)

    def _announced(self, call: HostCall, act: Callable[[], T]) -> T:
        scope = self._scope
        if scope.audit is not None and scope.reservation is not None:
            intent = {
                "actor": scope.caller.to_json(),
                "capability_id": scope.capability_id,
                "capability": scope.capability,
                "generation": scope.generation,
                "request_id": scope.request_id,
                "trace_id": scope.trace_id,
                "host_calls": [{"fn": call.fn, "target": call.target, "duration_us": None, "outcome": "intent"}],
            }
            scope.audit.intent(scope.reservation, intent)
        return act()


# Of the class and not of an instance: a table of bound methods is a cycle, and so each call would keep its
# generation until the next collection.
_BY_NAME: Mapping[str, Callable[[Functions, Arguments, HostCall], Awaitable[Any]]] = {
    "fs_read_text": Functions._fs_read_text,
    "fs_read_json": Functions._fs_read_json,
    "fs_list": Functions._fs_list,
    "state_get": Functions._state_get,
    "state_set": Functions._state_set,
    "emit_event": Functions._emit_event,
    "call_tool": Functions._call_tool,
    "now": Functions._now,
    "log": Functions._log,
}


def _check_size(what: str, value: Any, limit: int) -> None:
    try:
        size = len(orjson.dumps(value))
    except TypeError:
        raise failure(ErrorKind.INVALID_INPUT, f"{what} cannot be written as JSON") from None
    if size > limit:
        raise failure(ErrorKind.INVALID_INPUT, f"{what} has {size} bytes as JSON, {limit} are allowed")


def _cleaned(value: Any) -> Any:
    """The same value with every text fit to be shown."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean_line(key, 128): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list | tuple) else value
