"""What a step of the tour is made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from evatui.demo.scene import Condition, Scene

__all__ = ["CAPTION_MAX", "Act", "Step"]

CAPTION_MAX = 60

Act = Callable[[Scene], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """``intro`` is said while the ``acts`` are done, one after the other; ``caption`` once all of ``until`` holds, and
    after ``calls`` more calls were answered meanwhile.

    It can be done again from its beginning, after whatever a person did meanwhile. ``picture`` is the name of the
    picture that is taken of its end.
    """

    name: str
    intro: str
    acts: tuple[Act, ...]
    until: tuple[Condition, ...]
    caption: str
    calls: int = 0
    picture: str = ""
