"""A provider that is reached by a transport, as its manifest declares it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Adapter"]


@dataclass(frozen=True, slots=True)
class Adapter:
    """``capabilities`` are the names under which it can be called, ``path`` is its manifest."""

    id: str
    transport: str
    capabilities: tuple[str, ...]
    path: str
    enabled: bool = True
