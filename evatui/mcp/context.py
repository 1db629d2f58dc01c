"""What the SDK hands over with each request, and who is behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from mcp.server.context import ServerRequestContext

from evatui.mcp.asking import Client

__all__ = ["Context", "WhoAsks"]

Context: TypeAlias = ServerRequestContext[Any, Any]
WhoAsks = Callable[[Context], Client]
