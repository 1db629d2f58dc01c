"""A call's host is gone with the call, and so is all that the call held on to."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from evatui.kernel.model.permissions import NOTHING, Permissions
from tests.host.ground import Ground, asked


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


class Generation:
    """Stands for whatever a call's permissions are asked of."""

    def permissions(self) -> Permissions:
        return NOTHING


@pytest.mark.usefixtures("no_collector")
async def test_it_is_freed_without_the_collector_of_cycles(ground: Ground) -> None:
    generation = Generation()
    host = ground.bind(permissions=generation.permissions)
    await asked(host, "now")
    freed = weakref.ref(generation)
    del generation, host
    assert freed() is None
