"""The options that say which audit records are meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["filtered", "given"]

F = TypeVar("F", bound=Callable[..., Any])

_FILTERS = {
    "capability": ("ID|NAME", "Of this capability, by its id or a name that was called."),
    "generation": ("GENERATION", "Of this generation."),
    "request": ("REQUEST", "Of this request id."),
    "trace": ("TRACE", "Of this trace id: a call, and those that were made for it."),
    "actor": ("ACTOR", "By this actor: an id, a type such as cli, or type:id."),
    "code": ("CODE", "With this code, or first part of one: call.denied, capability."),
    "outcome": ("OUTCOME", "With this outcome: ok, error, denied, intent, unknown."),
    "since": ("TIME", "Not before this time: 2026-01-31T12:00:00Z, or 90s, 15m, 2h, 7d ago."),
    "until": ("TIME", "Not after this time."),
}


def filtered(command: F) -> F:
    """Adds an option for each; `given` finds them among the command's arguments."""
    for name, (metavar, told) in reversed(_FILTERS.items()):
        command = click.option(f"--{name}", metavar=metavar, help=told)(command)
    return command


def given(options: dict[str, Any]) -> dict[str, str]:
    return {name: options[name] for name in _FILTERS if options.get(name) is not None}
