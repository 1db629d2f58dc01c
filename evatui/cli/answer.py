"""What a command hands back: data for scripts, and how to say the same to a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evatui.cli.screen import Screen
from evatui.control.exits import Exit
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Answer", "failed_response"]


@dataclass(frozen=True, slots=True)
class Answer:
    """``show`` writes the text form. With ``failed`` the answer is shown as well, and then the error."""

    data: Mapping[str, Any] | None
    show: Callable[[Screen], None]
    exit_code: Exit = Exit.OK
    failed: CommandFailed | None = None


def failed_response(error: Mapping[str, Any] | None, data: Mapping[str, Any], suggestion: str = "") -> CommandFailed:
    """The failure of a command that did run, but whose handler (or a limit) said no.

    ``error`` is that of a call, or the diagnostic of a health check, which names no kind.
    """
    error = error or {}
    return CommandFailed(
        ErrorKind(error.get("kind", ErrorKind.HANDLER_ERROR)),
        str(error.get("message", "no reason was given")),
        retryable=bool(error.get("retryable", False)),
        suggestion=suggestion,
        context={"generation": error.get("generation"), **(error.get("details") or {})},
        data=data,
    )
