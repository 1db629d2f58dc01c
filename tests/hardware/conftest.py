"""The room of the tests of devices in use."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.hardware.rooms import Room, opened_room


@pytest.fixture
async def room(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Room]:
    async with opened_room(monkeypatch) as room:
        yield room
