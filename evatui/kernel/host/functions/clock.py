"""The time."""

from __future__ import annotations

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.asker import Asker, HostCall
from evatui.kernel.model.clock import rfc3339

__all__ = ["now"]


def now(asker: Asker, given: Arguments, call: HostCall) -> tuple[str, int]:
    """RFC 3339 text and milliseconds since 1970, of one moment."""
    given.done()
    moment = asker.parts.clock.now()
    return rfc3339(moment), int(moment.timestamp() * 1000)
