"""What the form of a call asks of the console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from evatui.console.view.form.draft import Earlier
from evatui.console.view.sent import Sent
from evatui.control.operator import OnProgress

__all__ = ["Calls"]


class Calls(Protocol):
    """What a form can ask for. Calls outlive it."""

    @property
    def earlier(self) -> Sequence[Earlier]:
        """Calls that were made before, the newest last."""
        ...

    async def send(self, params: dict[str, Any], on_progress: OnProgress) -> Sent: ...

    async def problems(self, payload: Mapping[str, Any]) -> Mapping[str, str]:
        """By JSON pointer, as the runtime judges it."""
        ...

    async def keep(self, name: str, payload: Mapping[str, Any]) -> Sent: ...
