"""The actions that change nothing: views, moving, finding, reading, and the console itself."""

from __future__ import annotations

from evatui.console.view import enabled as when
from evatui.console.view.action import VIEWS, Action, Takes, View

__all__ = ["LOOKING"]

_LISTS = frozenset({View.REGISTRY, View.REJECTED})

LOOKING: tuple[Action, ...] = (
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
        id="open", key="enter", label="open", help="The whole of the selected thing", group="Selected",
        enabled=when.selected, takes=Takes.THING, in_footer=True,
    ),
    Action(id="back", key="escape", shown_key="esc", label="up", help="One level up; ends a filter", group="Selected"),
    Action(
        id="menu", key="a", label="actions", help="What can be done to the selected thing, or why not",
        group="Selected", enabled=when.selected, in_footer=True,
    ),
    Action(
        id="describe", key="d", label="describe", help="Manifest, permissions, generations and limits",
        group="Reading", command="capability.inspect", enabled=when.described, in_footer=True, in_menu=True,
        takes=Takes.THING,
    ),
    Action(
        id="diff", key="v", label="diff", help="What it changes: permissions, fields, schemas, examples, code",
        group="Reading", command="capability.diff", views=_LISTS | {View.RELOADS}, enabled=when.comparable,
        in_footer=True, in_menu=True, takes=Takes.THING,
    ),
    Action(
        id="edit", key="e", label="editor", help="Open $EDITOR at the line of the first mistake, or at the script",
        group="Reading", views=_LISTS | {View.EXTENSIONS}, enabled=when.editable, in_footer=True, in_menu=True,
        takes=Takes.THING,
    ),
    Action(
        id="why", key="w", label="why", help="How it came to be as it is, and what to do: states, orders, records",
        group="Reading", command="why", enabled=when.told, in_footer=True, in_menu=True, takes=Takes.ANYTHING,
    ),
    Action(
        id="copy", key="C", label="copy", help="Copy it to the clipboard of the terminal (OSC 52)",
        group="Reading", enabled=when.selected, in_menu=True,
        takes=Takes.THING,
    ),
    Action(
        id="filter", key="slash", shown_key="/", label="filter", takes=Takes.TEXT,
        help="Only rows with these words: cap:x err: gen:41 >1s !not", group="Finding", in_footer=True,
    ),
    Action(id="match.next", key="n", label="next match", help="Next row that the last filter matches", group="Finding"),
    Action(id="match.previous", key="N", label="match before", help="Row before that matches", group="Finding"),
    Action(id="sort", key="s", label="sort", help="By the next column", group="Finding"),
    Action(id="sort.reverse", key="S", label="reverse", help="Turn the order round", group="Finding"),
    Action(
        id="mark", key="space", label="mark", group="Finding",
        help="Mark the row, or unmark it: what can be done to many is then done to all that are marked",
    ),
    Action(
        id="mark.shown", key="asterisk", shown_key="*", label="mark all", help="Mark every row that is shown",
        group="Finding",
    ),
    Action(id="unmark", key="u", label="unmark", help="Mark nothing", group="Finding"),
    Action(
        id="related", key="o", label="related", group="Finding", enabled=when.selected, in_footer=True, in_menu=True,
        help="Go to what belongs to it: its request, its generation, its capability",
    ),
    Action(
        id="level", key="l", label="level", group="Finding", views=frozenset({View.RELOADS, View.AUDIT}),
        help="Only what matters more: all, no details, warnings, errors",
    ),
    Action(id="hold", key="p", label="hold", help="Hold the screen still, or let it go on", group="Finding"),
    Action(
        id="follow", key="f", label="follow", help="Stay at the newest row", group="Finding",
        views=frozenset({View.RELOADS, View.AUDIT}), in_footer=True,
    ),
    Action(
        id="command", key="colon", shown_key=":", label="command", help="Type a command: tab completes, ↑ repeats",
        group="Console", in_footer=True,
    ),
    Action(
        id="help", key="question_mark,f1", shown_key="?", label="help",
        help="Every key and command; type to search, enter runs it",
        group="Console",
        in_footer=True,
    ),
    Action(
        id="session", key="at", shown_key="@", label="session", group="Console",
        help="What was done in this session, by you and by others, with its undo and its command",
    ),
    Action(
        id="export", label="export", group="Console", views=frozenset({View.AUDIT}), takes=Takes.FILE,
        help="Write the records that are shown to a new file, one JSON object a line",
    ),
    Action(
        id="readonly", label="read-only", group="Console",
        help="From now on this console only looks; there is no way back but a new start",
    ),
    Action(
        id="theme", label="theme", group="Console", takes=Takes.THEME,
        help="The next one, or the one that is named: dark, light",
    ),
    Action(id="palette", key="ctrl+p", label="palette", help="What can be done now, and where to go", group="Console"),
    Action(
        id="leave", key="q,ctrl+q,ctrl+c", label="leave", help="Leave; says what stops with it", group="Console",
        in_footer=True,
    ),
)  # fmt: skip
