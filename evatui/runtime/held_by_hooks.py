"""A call on its way whose hooks are asked: it is in flight, and nobody is chosen to answer it yet."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.model.progress import Progress
from evatui.kernel.registry.under_way import UnderWay

__all__ = ["HeldByHooks"]


@dataclass(slots=True, kw_only=True)
class HeldByHooks(UnderWay):
    """``hook`` is the one that runs now, as it is told."""

    hook: str = ""

    @property
    def answered_by(self) -> str:
        return ""

    @property
    def runs_on(self) -> None:
        return None

    @property
    def number(self) -> str:
        return ""

    @property
    def doing(self) -> str:
        return self.hook

    @property
    def progress(self) -> Progress | None:
        return None
