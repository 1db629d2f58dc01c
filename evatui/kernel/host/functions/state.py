"""The capability's own durable state."""

from __future__ import annotations

from typing import Any

from evatui.kernel.host.arguments import MAX_WHOLE, Arguments
from evatui.kernel.host.asker import Asker, HostCall
from evatui.kernel.model.text import clean_line
from evatui.kernel.storage.state_store import MAX_KEY_CHARS, MISSING

__all__ = ["state_get", "state_set"]


def state_get(asker: Asker, given: Arguments, call: HostCall) -> dict[str, Any]:
    key, default = _key(given, call), given.take_value("default")
    given.done()
    scope = asker.scope
    if scope.carried is not None:
        value, version = scope.carried.get(key)
    else:
        value, version = asker.parts.state.get(scope.capability_id, scope.schema_version, key)
    return {"value": default if value is MISSING else value, "version": version}


def state_set(asker: Asker, given: Arguments, call: HostCall) -> dict[str, Any]:
    key, value = _key(given, call), given.take_value("value", required=True)
    expected = given.take_number("expected_version", None, 0, MAX_WHOLE)
    given.done()
    scope = asker.scope
    if scope.carried is not None:
        return {"version": scope.carried.set(key, value, expected)}
    asker.announce(call)
    version = asker.parts.state.set(
        scope.capability_id, scope.schema_version, key, value, expected, scope.limits.state_bytes
    )
    return {"version": version}


def _key(given: Arguments, call: HostCall) -> str:
    key = given.take_text("key", limit=MAX_KEY_CHARS)
    call.target = clean_line(key, 256)
    return key
