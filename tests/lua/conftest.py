from __future__ import annotations

from collections.abc import Iterator

import pytest

from evatui.kernel.lua import Engine, Workers, sandbox_facts
from evatui.kernel.model.manifest import Isolation
from tests.lua.placed import PlacedEngine


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
