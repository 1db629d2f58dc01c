"""What is asked about: a capability, a generation, or a request."""

from __future__ import annotations

import asyncio
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.naming import meant_by_id
from evatui.control.story.of_capability import of_capability
from evatui.control.story.of_generation import of_generation
from evatui.control.story.of_request import of_request
from evatui.kernel.model.clock import rfc3339
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.runtime import Runtime

__all__ = ["told"]


async def told(runtime: Runtime, wanted: str) -> dict[str, Any]:
    """``about`` is ``capability``, ``generation`` or ``request``, and says which shape the rest has; ``now`` is when.

    ``next`` has what there is to do: ``{do, command, place}``, where only one of the last two is given. Raises
    `CommandFailed` ``NotFound`` for what is none of the three, or leaves no trace any more.
    """
    about = await _about(runtime, wanted)
    if about is None:
        raise CommandFailed(
            ErrorKind.NOT_FOUND,
            f"{clean_line(wanted, 200)} is no capability, no generation, and no request that is still on record",
            suggestion=meant_by_id(runtime, wanted, "eva capability list, or eva audit tail"),
        )
    return {"now": rfc3339(runtime.clock.now()), **about}


async def _about(runtime: Runtime, wanted: str) -> dict[str, Any] | None:
    capability = runtime.registry.capabilities.get(wanted)
    if capability is not None:
        return await of_capability(runtime, capability)
    found = await asyncio.to_thread(runtime.history.named, wanted)
    if found is not None:
        return await of_generation(runtime, *found)
    return await of_request(runtime, wanted)
