"""A command that was sent, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evatui.console.view.cli import command_line
from evatui.control.failing import CommandFailed

__all__ = ["Sent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Either ``data`` or ``failed`` is there; ``params`` are those of `Operator.run`, but for the ``request_id``."""

    command: str
    params: Mapping[str, Any]
    request_id: str = ""
    took_ms: float
    data: Mapping[str, Any] | None = None
    failed: CommandFailed | None = None

    @property
    def line(self) -> str:
        """The ``eva`` line that does the same."""
        return command_line(self.command, self.params)
