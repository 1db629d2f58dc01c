from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mcp.house import House, housed


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One for all tests that leave it as it was."""
    with housed(tmp_path_factory.mktemp("house")) as house:
        yield house
