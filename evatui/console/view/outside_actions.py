"""What can be done to MCP servers that handlers call."""

from __future__ import annotations

from evatui.console.view import outside as when
from evatui.console.view.action import Action, Takes, View

__all__ = ["OUTSIDE"]

_EXTENSIONS = frozenset({View.EXTENSIONS})

OUTSIDE: tuple[Action, ...] = (
    Action(
        id="tools.approve", label="approve tools", group="Changing", command="mcp.approve", views=_EXTENSIONS,
        help="Let the tools that wait be called as they are now: type the id", enabled=when.has_waiting,
        in_menu=True, takes=Takes.THING,
    ),
    Action(
        id="tools.revoke", label="revoke tools", group="Changing", command="mcp.revoke", views=_EXTENSIONS,
        help="Take the approval of all its tools back; enter confirms", enabled=when.has_approved,
        in_menu=True, takes=Takes.THING,
    ),
    Action(
        id="probe", label="probe", group="Changing", command="mcp.probe", views=_EXTENSIONS,
        help="Connect, and list its tools anew", enabled=when.is_probed, in_menu=True, takes=Takes.THING,
    ),
)  # fmt: skip
