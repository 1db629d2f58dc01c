from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from evatui.kernel.lua import Engine, LoadedProgram, Program, Workers, sandbox_facts
from evatui.kernel.model.manifest import Isolation


class PlacedEngine(Engine):
    """Loads all programs into one isolation."""

    def __init__(self, isolation: Isolation, workers: Workers) -> None:
        super().__init__(workers=workers)
        self.isolation = isolation

    async def load(self, program: Program, **options: Any) -> LoadedProgram:
        return await super().load(program, **{"isolation": self.isolation, **options})


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One behaviour, in whichever process: whoever asks for an engine gets both."""
    if "engine" in metafunc.fixturenames:
        isolations = [Isolation.IN_PROCESS, Isolation.PROCESS]
        metafunc.parametrize("engine", isolations, indirect=True, scope="session", ids=str)


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    workers = Workers()
    yield workers
    workers.close()


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest, workers: Workers) -> Iterator[Engine]:
    isolation: Isolation = request.param
    if isolation is Isolation.PROCESS and not sandbox_facts().process:
        pytest.skip("there are no worker processes on this system")
    engine = PlacedEngine(isolation, workers)
    yield engine
    engine.close()
    assert engine.stuck == 0
