"""The one table of actions: bindings, footer, the menu of a thing and ``?`` are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from evatui.console.view import enabled as when
from evatui.control.commands import COMMANDS, Danger

if TYPE_CHECKING:
    from evatui.console.view.enabled import Enabled

__all__ = ["ACTIONS", "VIEWS", "Action", "Actions", "View"]


class View(StrEnum):
    REGISTRY = "registry"
    REJECTED = "rejected"
    AUDIT = "audit"


VIEWS: dict[View, tuple[str, str]] = {
    View.REGISTRY: ("1", "Registry"),
    View.REJECTED: ("3", "Rejected"),
    View.AUDIT: ("6", "Audit"),
}
"""Key and title of each view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """``enabled`` gives the reason why not, or None. An empty ``key`` is reached through the menu only."""

    id: str
    key: str
    label: str
    help: str
    group: str
    shown_key: str = ""
    command: str | None = None
    views: frozenset[View] = frozenset(View)
    enabled: Enabled = when.always
    in_footer: bool = False
    in_menu: bool = False

    @property
    def danger(self) -> Danger:
        """How it must be confirmed. A call with side effects is raised to `Danger.PLAN` where it is made."""
        return COMMANDS[self.command].danger if self.command else Danger.FREE

    @property
    def changes(self) -> bool:
        """Whether a read-only console is without it."""
        return self.command is not None and (self.danger > Danger.FREE or COMMANDS[self.command].effects)

    @property
    def name_of_key(self) -> str:
        return self.shown_key or self.key.partition(",")[0]


_LISTS = frozenset({View.REGISTRY, View.REJECTED})

ACTIONS: tuple[Action, ...] = (
    *(
        Action(id=f"view.{view.value}", key=key, label=title.lower(), help=f"The view {title}", group="Views")
        for view, (key, title) in VIEWS.items()
    ),
    Action(id="view.last", key="minus", shown_key="-", label="last view", help="The view before", group="Views"),
    Action(id="zoom", key="plus", shown_key="+", label="zoom", help="The list alone, or all", group="Views"),
    Action(id="move.down", key="j,down", shown_key="j ↓", label="down", help="Next row", group="Moving"),
    Action(id="move.up", key="k,up", shown_key="k ↑", label="up", help="Row before", group="Moving"),
    Action(id="move.top", key="g,home", label="top", help="First row", group="Moving"),
    Action(id="move.end", key="G,end", label="end", help="Last row", group="Moving"),
    Action(id="move.page_down", key="pagedown", shown_key="pgdn", label="page down", help="A page", group="Moving"),
    Action(id="move.page_up", key="pageup", shown_key="pgup", label="page up", help="A page up", group="Moving"),
    Action(
        id="open", key="enter", label="open", help="The whole of the selected thing", group="Reading",
        enabled=when.selected, in_footer=True,
    ),
    Action(id="back", key="escape", shown_key="esc", label="up", help="One level up; clears a filter", group="Reading"),
    Action(
        id="menu", key="a", label="actions", help="What can be done to the selected thing, or why not",
        group="Changing", enabled=when.selected, in_footer=True,
    ),
    Action(
        id="reload", key="r", label="reload", help="Read the disk again; shows the plan, enter applies it",
        group="Changing", command="capability.reload", views=_LISTS, enabled=when.reloadable,
        in_footer=True, in_menu=True,
    ),
    Action(
        id="rollback", key="R", label="roll back", help="Serve an earlier generation again: choose, then y",
        group="Changing", command="capability.rollback", views=_LISTS, enabled=when.capability(when.is_restorable),
        in_footer=True, in_menu=True,
    ),
    Action(
        id="drain", key="x", label="drain", help="Take no new calls and let the running ones end; y confirms",
        group="Changing", command="capability.drain", views=_LISTS, enabled=when.capability(when.is_drainable),
        in_footer=True, in_menu=True,
    ),
    Action(
        id="disable", key="", label="disable", help="Switch it off until it is enabled again; y confirms",
        group="Changing", command="capability.disable", views=_LISTS,
        enabled=when.capability(when.is_disablable), in_menu=True,
    ),
    Action(
        id="enable", key="", label="enable", help="Lift a drain, a disable or a demotion; enter confirms",
        group="Changing", command="capability.enable", views=_LISTS,
        enabled=when.capability(when.is_enablable), in_menu=True,
    ),
    Action(
        id="promote", key="", label="promote", help="Let the version that is tried out take all calls; y confirms",
        group="Changing", command="capability.promote", views=_LISTS,
        enabled=when.capability(when.is_tried_out), in_menu=True,
    ),
    Action(
        id="abort", key="", label="abort", help="Take the version that is tried out back; y confirms",
        group="Changing", command="capability.abort", views=_LISTS,
        enabled=when.capability(when.is_tried_out), in_menu=True,
    ),
    Action(
        id="pause", key="", label="pause", help="Let the time of the canary stand still; enter confirms",
        group="Changing", command="capability.pause", views=_LISTS,
        enabled=when.capability(when.is_pausable), in_menu=True,
    ),
    Action(
        id="resume", key="", label="resume", help="Let the time of the canary go on; enter confirms",
        group="Changing", command="capability.resume", views=_LISTS,
        enabled=when.capability(when.is_resumable), in_menu=True,
    ),
    Action(
        id="undo", key="", label="undo", help="Undo what was ordered of it last; y confirms",
        group="Changing", command="capability.undo", views=_LISTS, enabled=when.capability(when.anything), in_menu=True,
    ),
    Action(
        id="approve", key="", label="approve", help="Let the version that waits go into service: type the id",
        group="Changing", command="capability.approve", views=_LISTS, enabled=when.held(when.approvable), in_menu=True,
    ),
    Action(
        id="revoke", key="", label="revoke", help="Take an approval back that has not taken effect; enter confirms",
        group="Changing", command="capability.revoke", views=_LISTS, enabled=when.held(when.revocable), in_menu=True,
    ),
    Action(
        id="trust", key="T", label="trust", help="Trust the workspace: shows with what, y confirms",
        group="Changing", command="trust.give", enabled=when.trustable, in_footer=True, in_menu=True,
    ),
    Action(
        id="distrust", key="", label="distrust", help="Trust the workspace with nothing any more; y confirms",
        group="Changing", command="trust.revoke", enabled=when.distrustable, in_menu=True,
    ),
    Action(
        id="restart", key="", label="restart", help="Let calls end and build the runtime anew; y confirms",
        group="Changing", command="runtime.restart", enabled=when.restartable, in_menu=True,
    ),
    Action(
        id="freeze", key="", label="freeze", help="Let files and canaries wait until thaw; enter confirms",
        group="Changing", command="runtime.freeze", enabled=when.freezable, in_menu=True,
    ),
    Action(
        id="thaw", key="", label="thaw", help="Publish what has waited since freeze; y confirms",
        group="Changing", command="runtime.thaw", enabled=when.thawable, in_menu=True,
    ),
    Action(
        id="call", key="c", label="call", help="Call it with a JSON payload: ctrl+s sends",
        group="Changing", command="capability.call", views=_LISTS, enabled=when.capability(when.is_callable),
        in_footer=True, in_menu=True,
    ),
    Action(
        id="describe", key="d", label="describe", help="Manifest, permissions, generations and limits",
        group="Reading", command="capability.inspect", enabled=when.described, in_footer=True, in_menu=True,
    ),
    Action(
        id="edit", key="e", label="editor", help="Open $EDITOR at the line of the first mistake, or at the script",
        group="Reading", views=_LISTS, enabled=when.editable, in_footer=True, in_menu=True,
    ),
    Action(
        id="copy", key="C", label="copy", help="Copy it to the clipboard of the terminal (OSC 52)",
        group="Reading", enabled=when.selected, in_menu=True,
    ),
    Action(
        id="filter", key="slash", shown_key="/", label="filter",
        help="Only rows with these words: cap:x err: gen:41 >1s !not", group="Finding", in_footer=True,
    ),
    Action(id="match.next", key="n", label="next match", help="Next row that the last filter matches", group="Finding"),
    Action(id="match.previous", key="N", label="match before", help="Row before that matches", group="Finding"),
    Action(id="sort", key="s", label="sort", help="By the next column", group="Finding"),
    Action(id="sort.reverse", key="S", label="reverse", help="Turn the order round", group="Finding"),
    Action(
        id="follow", key="f", label="follow", help="Stay at the newest record", group="Finding",
        views=frozenset({View.AUDIT}), in_footer=True,
    ),
    Action(
        id="help", key="question_mark,f1", shown_key="?", label="help", help="This page", group="Console",
        in_footer=True,
    ),
    Action(
        id="leave", key="q,ctrl+q,ctrl+c", label="leave", help="Leave; says what stops with it", group="Console",
        in_footer=True,
    ),
)  # fmt: skip


class Actions:
    """The actions that this console has at all."""

    def __init__(self, *, readonly: bool) -> None:
        self.all = tuple(action for action in ACTIONS if not (readonly and action.changes))
        self._by_id = {action.id: action for action in self.all}

    def find(self, action_id: str) -> Action | None:
        return self._by_id.get(action_id)

    def footer(self, view: View) -> tuple[Action, ...]:
        return tuple(action for action in self.all if action.in_footer and view in action.views)

    def menu(self) -> tuple[Action, ...]:
        """What can be done to a thing."""
        return tuple(action for action in self.all if action.in_menu)
