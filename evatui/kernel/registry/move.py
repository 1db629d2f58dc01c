"""A change of what a capability serves, ready to take effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass, field

from evatui.kernel.registry.generation import Generation

__all__ = ["Move"]


@dataclass(frozen=True, slots=True)
class Move:
    """``active`` and ``canaries`` are the entries of the table that change, by id, None where one goes.

    ``stands`` says at the last moment whether it is wanted still; ``follow`` is what the switch entails: what was
    replaced drains, and it is told. Both are called on the loop in the step that assigns the table, ``follow`` in the
    ``context`` in which the move was made: what is told of it has the cause of its own change.
    """

    follow: Callable[[], object]
    active: Mapping[str, Generation | None] = field(default_factory=dict)
    canaries: Mapping[str, Generation | None] = field(default_factory=dict)
    stands: Callable[[], bool] = lambda: True
    context: Context = field(default_factory=copy_context)
