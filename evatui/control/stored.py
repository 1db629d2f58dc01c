"""What capabilities have stored: listed, read, deleted."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.params import Params, read_flag, read_needed, read_number, read_text
from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.receipt import guard
from evatui.kernel.storage.state_store import StateRow
from evatui.runtime import Runtime

__all__ = ["Stored"]


class Stored:
    """``work`` has the commands by name.

    The state in force is that of the schema that serves, or served last. What lies under others is older, and only
    read.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.work: Mapping[str, Callable[[Params, Actor], Awaitable[dict[str, Any]]]] = {
            "state.list": self._list,
            "state.get": self._get,
            "state.delete": self._delete,
        }
        self._runtime = runtime
        self._state = runtime.state

    async def _list(self, params: Params, actor: Actor) -> dict[str, Any]:
        wanted = read_text(params, "id")
        return await asyncio.to_thread(self._all) if wanted is None else await asyncio.to_thread(self._one, wanted)

    def _all(self) -> dict[str, Any]:
        """``{capabilities: [{id, schema_version, in_force, keys, bytes, limit_bytes}]}``, a row for each schema."""
        return {
            "capabilities": [
                {
                    "id": size.capability_id,
                    "schema_version": size.schema_version,
                    "in_force": size.schema_version == self._in_force(size.capability_id),
                    "keys": size.keys,
                    "bytes": size.bytes,
                    "limit_bytes": self._limit(size.capability_id),
                }
                for size in self._state.owners()
            ]
        }

    def _one(self, capability_id: str) -> dict[str, Any]:
        """``{id, schema_version, limit_bytes, rows: [{key, version, bytes, schema_version, in_force}]}``."""
        schema = self._in_force(capability_id)
        return {
            "id": capability_id,
            "schema_version": schema,
            "limit_bytes": self._limit(capability_id),
            "rows": [
                {**_row(row, number), "in_force": number == schema}
                for number in self._state.schemas(capability_id)
                for row in self._state.rows(capability_id, number)
            ],
        }

    async def _get(self, params: Params, actor: Actor) -> dict[str, Any]:
        return await asyncio.to_thread(
            self._read, read_needed(params, "id"), read_needed(params, "key"), read_number(params, "schema")
        )

    def _read(self, capability_id: str, key: str, schema: int | None) -> dict[str, Any]:
        """``{id, key, value, version, bytes, schema_version}``."""
        number = self._in_force(capability_id) if schema is None else schema
        for row in self._state.rows(capability_id, number):
            if row.key == key:
                return {"id": capability_id, **_row(row, number), "value": row.value}
        raise _none(capability_id, key, number)

    async def _delete(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{id, key, schema_version, deleted}``, the number of keys; only of the state in force."""
        capability_id, key = read_needed(params, "id"), read_text(params, "key")
        if (key is None) is not read_flag(params, "all"):
            raise CommandFailed(ErrorKind.INVALID_INPUT, "one of the parameters key and all must be given")
        capability = self._runtime.registry.capabilities.get(capability_id)
        async with capability.turn if capability is not None else contextlib.nullcontext():  # never amid a migration
            if capability is not None:
                guard(capability, read_text(params, "if_generation"))
            schema = await asyncio.to_thread(self._in_force, capability_id)
            deleted = await asyncio.to_thread(self._state.delete, capability_id, schema, key)
        if key is not None and not deleted:
            raise _none(capability_id, key, schema)
        self._runtime.registry.journal.write(
            Code.STATE_DELETED,
            Outcome.OK,
            actor,
            capability_id=capability_id,
            key=clean_line(key) if key is not None else None,
            schema_version=schema,
            deleted=deleted,
        )
        return {"id": capability_id, "key": key, "schema_version": schema, "deleted": deleted}

    def _in_force(self, capability_id: str) -> int:
        """Blocking. Of an id that nobody knows: `NotFound`."""
        capability = self._runtime.registry.capabilities.get(capability_id)
        if capability is not None and capability.active is not None:
            return capability.active.manifest.state_schema
        known = self._runtime.history.state_schema(capability_id)
        if known is not None:
            return known
        stored = self._state.schemas(capability_id)
        if stored:
            return stored[-1]
        if capability is None:
            raise CommandFailed(
                ErrorKind.NOT_FOUND,
                f"no capability with the id {clean_line(capability_id, 128)} has stored anything",
                suggestion="eva state list",
            )
        return capability.candidate.manifest.state_schema if capability.candidate is not None else 1

    def _limit(self, capability_id: str) -> int | None:
        capability = self._runtime.registry.capabilities.get(capability_id)
        active = capability.active if capability is not None else None
        return active.manifest.limits.state_bytes if active is not None else None


def _row(row: StateRow, schema: int) -> dict[str, Any]:
    return {"key": row.key, "version": row.version, "bytes": row.bytes, "schema_version": schema}


def _none(capability_id: str, key: str, schema: int) -> CommandFailed:
    return CommandFailed(
        ErrorKind.NOT_FOUND,
        f"{clean_line(capability_id, 128)} has no key {clean_line(key, 256)} under schema {schema}",
        suggestion=f"eva state list {clean_line(capability_id, 128)}",
    )
