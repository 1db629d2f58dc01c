"""Fixtures: a workspace of its own for each test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from evatui.adapters.http import Http
from evatui.adapters.process import Processes
from evatui.kernel.host.credentials import Credentials
from evatui.kernel.host.host import Host
from evatui.kernel.host.ports import Outside
from evatui.kernel.model.call import CallReport, CallRequest
from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.events import EventBus
from evatui.kernel.records.memory import MemoryAudit
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.state_store import StateStore
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import open_layout
from tests.host.ground import Ground
from tests.host.web import Server, network, serving


@pytest.fixture
def open_ground(tmp_path: Path) -> Iterator[Callable[[], Ground]]:
    """Opens the workspace as the test has laid it out."""
    root = tmp_path / "project"
    (root / "capabilities").mkdir(parents=True)
    opened: list[Callable[[], None]] = []

    def open_it() -> Ground:
        layout, tree, database = open_layout(root), Tree(root), Database(None)
        opened.extend((tree.close, database.close))
        events, audit = EventBus(SYSTEM_CLOCK), MemoryAudit(SYSTEM_CLOCK)

        async def invoke(request: CallRequest) -> CallReport:
            ground.requests.append(request)
            if ground.callee_hangs:
                await asyncio.Event().wait()
            return ground.answer

        ground = Ground(root, events, audit)
        outside = Outside(Http(ground.resolve), Processes(), Credentials(ground.environ))
        ground.host = Host(layout, tree, StateStore(database), events, invoke, SYSTEM_CLOCK, outside)
        return ground

    yield open_it
    for close in opened:
        close()


@pytest.fixture
def ground(open_ground: Callable[[], Ground]) -> Ground:
    return open_ground()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as server:
        yield server


@pytest.fixture
def lab(ground: Ground) -> Ground:
    """Granted what runs on this machine, and a credential for it."""
    ground.permissions = network("127.0.0.1", "localhost", env=("TOKEN",))
    ground.credentials["TOKEN"] = {"hosts": ["127.0.0.1"], "header": "Authorization", "prefix": "Bearer "}
    ground.environ["TOKEN"] = "s3cr/t+value&more"
    return ground
