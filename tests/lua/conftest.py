from __future__ import annotations

from collections.abc import Iterator

import pytest

from evatui.kernel.lua import Engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.close()
    assert engine.stuck == 0
