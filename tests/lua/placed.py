"""Engines that load all programs into one isolation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evatui.kernel.lua import Engine, LoadedProgram, Program, Workers
from evatui.kernel.model.manifest import Isolation

__all__ = ["PlacedEngine", "placed_engine"]


class PlacedEngine(Engine):
    """Loads all programs into one isolation."""

    def __init__(self, isolation: Isolation, workers: Workers) -> None:
        super().__init__(workers=workers)
        self.isolation = isolation

    async def load(self, program: Program, **options: Any) -> LoadedProgram:
        return await super().load(program, **{"isolation": self.isolation, **options})


@contextmanager
def placed_engine(isolation: Isolation) -> Iterator[PlacedEngine]:
    """One with workers of its own; all is closed at the end."""
    workers = Workers()
    engine = PlacedEngine(isolation, workers)
    try:
        yield engine
    finally:
        engine.close()
        workers.close()
