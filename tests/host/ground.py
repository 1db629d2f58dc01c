"""A workspace on disk, and a host bound to a call in it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.host.host import BoundHost, CallScope, Host
from evatui.kernel.model.address import Address
from evatui.kernel.model.call import Actor, CallerType, CallReport, CallRequest, Response
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.manifest import Limits
from evatui.kernel.model.permissions import Adapters, Events, Files, Permissions
from evatui.kernel.records.events import EventBus
from evatui.kernel.records.memory import MemoryAudit


def granting(
    *read: str,
    write: tuple[str, ...] = (),
    emit: tuple[str, ...] = (),
    capabilities: tuple[str, ...] = (),
    providers: tuple[str, ...] = (),
) -> Permissions:
    return Permissions(fs=Files(read, write), events=Events(emit), adapters=Adapters(capabilities, providers))


@dataclass
class Ground:
    """``permissions`` may be set at any time: the host asks at every call. ``answer`` stands for the registry.

    ``names`` are the addresses of the names that there are, ``looked_up`` which were asked for, ``credentials`` those
    of the policy, and ``environ`` is where their values are.
    """

    root: Path
    events: EventBus
    audit: MemoryAudit
    host: Host = field(init=False)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    looked_up: list[str] = field(default_factory=list)
    credentials: dict[str, dict[str, Any]] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    permissions: Permissions = Permissions()
    requests: list[CallRequest] = field(default_factory=list)
    callee_hangs: bool = False
    answer: CallReport = field(default_factory=lambda: report(Response(True, {"n": 1})))

    def write(self, path: str, text: str | bytes = "text") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def scope(self, **changes: Any) -> CallScope:
        scope = CallScope(
            capability_id="repo-summary",
            generation="repo-summary@1.0.0+build.20260102.001",
            request_id="req_1",
            trace_id="tr_1",
            deadline=1_000.0,
            permissions=lambda: self.permissions,
            credentials=lambda: self.credentials,
            limits=Limits(state_bytes=1_000),
            effects=True,
            caller=Actor(CallerType.CLI, "ada"),
            ancestors=("outer", "repo-summary"),
            user="ada",
            tags={"team": "a"},
            audit=self.audit,
            reservation=self.audit.begin(),
        )
        return replace(scope, **changes)

    def bind(self, **changes: Any) -> BoundHost:
        scope = self.scope(**changes)
        return self.host.bind(lambda: scope)

    async def resolve(self, name: str) -> Sequence[Address]:
        self.looked_up.append(name)
        if name not in self.names:
            raise OSError("no such name")
        return tuple(map(ip_address, self.names[name]))

    async def ask(self, function: str, argument: Any = None) -> Any:
        return await asked(self.bind(), function, argument)

    async def refusal(self, function: str, argument: Any = None) -> tuple[ErrorKind, str]:
        """The kind and message of the error that the call must end in."""
        with pytest.raises(CallFailed) as caught:
            await self.ask(function, argument)
        assert str(self.root) not in caught.value.error.message
        return caught.value.error.kind, caught.value.error.message


async def asked(bound: BoundHost, function: str, argument: Any = None) -> Any:
    """The answer, as a call gets it: asked for on a thread, and awaited on the loop where it has to be."""
    answer = await asyncio.to_thread(bound, function, argument)
    return await answer if asyncio.iscoroutine(answer) else answer


def report(response: Response, generation: str | None = "other@1.0.0+build.20260102.001") -> CallReport:
    return CallReport(response, "req_2", "tr_1", "other", generation, 1.0)
