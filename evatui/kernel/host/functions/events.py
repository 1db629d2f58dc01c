"""Telling others: events, lines of the log, and how far a call has come."""

from __future__ import annotations

from typing import Any

import orjson

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.asker import Asker, HostCall
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.permissions import covers_topic
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean, clean_line
from evatui.kernel.model.topic import is_kernel_topic, is_topic

__all__ = ["emit_event", "log", "progress"]

_MAX_EVENT_BYTES = 65_536
_MAX_LOG_BYTES = 8_192
_LEVELS = ("debug", "info", "warn", "error")
_LOG_TOPIC = "/runtime/log"
_PROGRESS_TOPIC = "/runtime/progress"
_MAX_MESSAGE = 200
"""Characters of a report's message; a longer one is cut, since it is only to be looked at."""


def emit_event(asker: Asker, given: Arguments, call: HostCall) -> dict[str, Any]:
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
    scope = asker.scope
    if not any(covers_topic(grant, topic) for grant in scope.permissions().events.emit):
        raise failure(ErrorKind.POLICY_DENIED, f"{call.target} is not granted: events.emit does not cover it")
    asker.announce(call)
    event = asker.parts.events.emit(topic, payload, actor=asker.actor, cause=scope.request_id)
    return {"event_id": event.event_id}


def log(asker: Asker, given: Arguments, call: HostCall) -> None:
    level, fields = given.take_text("level", "info", limit=16), given.take_value("fields")
    given.done()
    if level not in _LEVELS:
        raise failure(ErrorKind.INVALID_INPUT, f"log: the level must be one of {', '.join(_LEVELS)}")
    call.target = level
    if not isinstance(fields, dict):
        fields = {} if fields is None else {"message": fields}
    _check_size("log: fields", fields, _MAX_LOG_BYTES)
    _tell(asker, _LOG_TOPIC, {"level": level, "fields": _cleaned(fields)})


def progress(asker: Asker, given: Arguments, call: HostCall) -> None:
    done, total = given.take_amount("done", required=True), given.take_amount("total")
    message = given.take_text("message", "", limit=_MAX_LOG_BYTES, empty=True)
    given.done()
    assert done is not None  # it is required
    if total is not None and done > total:
        raise failure(ErrorKind.INVALID_INPUT, f"progress: done is {done}, more than the total of {total}")
    report = Progress(done, total, clean_line(message, _MAX_MESSAGE))
    if asker.reporting.take(report):
        _tell(asker, _PROGRESS_TOPIC, report.to_json())
    asker.scope.reported()


def _tell(asker: Asker, topic: str, payload: dict[str, Any]) -> None:
    scope = asker.scope
    about = {"id": scope.capability_id, "generation": scope.generation, "request_id": scope.request_id}
    asker.parts.events.emit(topic, {**about, **payload}, actor=asker.actor, cause=scope.request_id)


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
