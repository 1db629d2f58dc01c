"""A call on its way, whoever answers it: what is told of it meanwhile, and its end by order."""

from __future__ import annotations

import asyncio
import datetime as dt
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from evatui.kernel.model.call import CallRequest
from evatui.kernel.model.progress import Progress

__all__ = ["UnderWay"]


@dataclass(slots=True)
class UnderWay(ABC):
    """Came at ``at``. ``started`` and ``deadline`` are on the monotonic clock, in seconds.

    ``recorded``: its end was for the audit log. ``cancelled_by`` ordered its end, while it was in flight.
    """

    request: CallRequest
    at: dt.datetime
    started: float
    deadline: float = math.inf
    recorded: bool = False
    task: asyncio.Task[Any] | None = None
    cancelled_by: str = ""

    def cancel(self, by: str) -> bool:
        """Ends it by order of ``by``: its caller is answered ``Cancelled``. False where it has ended by itself."""
        if self.recorded or self.cancelled_by or self.task is None:
            return False
        self.cancelled_by = by
        return self.task.cancel()

    @property
    def is_by_order(self) -> bool:
        """For who was just cancelled: was that the order, and nothing beside it? Then the task goes on."""
        return bool(self.cancelled_by) and self.task is not None and not self.task.uncancel()

    @property
    @abstractmethod
    def answered_by(self) -> str:
        """The id of a capability or of an adapter; empty while nobody is chosen."""

    @property
    @abstractmethod
    def runs_on(self) -> str | None:
        """A generation, or an adapter with its version; None while it waits for a slot."""

    @property
    @abstractmethod
    def number(self) -> str:
        """That of the generation, ``g41``; empty where there is none."""

    @property
    @abstractmethod
    def doing(self) -> str:
        """What it waits for outside of itself, cleaned; empty where that is nothing."""

    @property
    @abstractmethod
    def progress(self) -> Progress | None:
        """The newest word on how far it has come."""
