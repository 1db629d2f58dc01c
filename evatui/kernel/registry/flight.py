"""A call on its way."""

from __future__ import annotations

import asyncio
import datetime as dt
import math
from dataclasses import dataclass
from typing import Any

from evatui.kernel.host.host import BoundHost
from evatui.kernel.model.call import CallRequest
from evatui.kernel.records.groups import ACCEPTED, Acceptance
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import Generation

__all__ = ["Flight"]


@dataclass(slots=True)
class Flight:
    """A call on its way, which came at ``at``. ``started`` and ``deadline`` are on the monotonic clock, in seconds.

    ``generation`` and ``host`` are None while it waits for a slot; ``pinned`` is when it got one. ``recorded``: its end
    was for the audit log; ``judged``: nothing but that record is still to come; ``acceptance`` is to be waited for
    before the answer leaves. ``data`` is the payload as canonical JSON, once it is admitted.
    """

    request: CallRequest
    at: dt.datetime
    started: float
    deadline: float = math.inf
    pinned: float = 0.0
    capability: Capability | None = None
    generation: Generation | None = None
    host: BoundHost | None = None
    data: bytes | None = None
    recorded: bool = False
    judged: bool = False
    acceptance: Acceptance = ACCEPTED
    task: asyncio.Task[Any] | None = None
    cancelled_by: str = ""
    """Who ordered its end, while it was in flight."""
