"""What the server asks of the runtime on behalf of its clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from evatui.control.operator import OnProgress

__all__ = ["Client", "Runs", "asked"]


class Runs(Protocol):
    """The part of an `evatui.control.operator.Operator` that the server needs."""

    async def run(
        self, command: str, *, on_progress: OnProgress | None = None, starts: bool = True, **params: Any
    ) -> dict[str, Any]:
        """``starts``: a runtime may be started for it where there is none."""
        ...

    def on_change(self, notify: Callable[[], None]) -> None: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks. ``principal`` is its name in the policy, None for the person at this machine; ``session`` is
    ``{id, transport, client, protocol}``."""

    principal: str | None
    session: Mapping[str, str]


def asked(client: Client) -> dict[str, Any]:
    """The parameters that say who asks."""
    who = {"principal": client.principal} if client.principal is not None else {}
    return {**who, "session": dict(client.session)}
