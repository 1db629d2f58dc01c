"""The footer, the list of keys, the palette and the menu of a thing, made from the action table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from evatui.console.view.actions import Action, Actions, View
from evatui.console.view.ink import Ink, Line, fit, line, measure
from evatui.console.view.table import Column, Row

if TYPE_CHECKING:
    from evatui.console.view.enabled import Subject
    from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["ACTION_COLUMNS", "GO_TO", "action_rows", "footer", "keys_line", "menu_line", "thing_rows"]

GO_TO = "go to "
"""Before the name of a thing in the palette, in the place of the id of an action."""

ACTION_COLUMNS = (
    Column(title="KEY", width=7),
    Column(title="ACTION", width=13),
    Column(title="WHAT IT DOES", width=20, flex=1),
    Column(title="COMMAND", width=16, need=74),
)

WhyNot = Callable[[Action], str | None]


def footer(actions: Actions, view: View, snapshot: ConsoleSnapshot | None, subject: Subject, width: int) -> Line:
    """Keys that do something here; help and leave stay when there is no room for all."""
    shown = [action for action in actions.footer(view) if action.key and not action.enabled(snapshot, subject)]
    tail = [action for action in shown if action.group == "Console"]
    spans: list[tuple[str, Ink]] = []
    room = width - sum(measure(_hint(action)) for action in tail)
    for action in (action for action in shown if action.group != "Console"):
        hint = _hint(action)
        if measure(hint) > room:
            break
        spans += hint
        room -= measure(hint)
    for action in tail:
        spans += _hint(action)
    return fit(tuple(spans), width)


def keys_line(pairs: Sequence[tuple[str, str]]) -> Line:
    """Keys and what they do, as in the footer."""
    return tuple(span for key, does in pairs for span in ((f" {key}", Ink.KEY), (f" {does} ", Ink.DIM)))


def _hint(action: Action) -> Line:
    return keys_line(((action.name_of_key, action.label),))


def action_rows(actions: Iterable[Action], why_not: WhyNot) -> list[Row]:
    """A row for each, with what it does, or why it cannot be done here and now."""
    return [
        Row(
            key=action.id,
            cells=(*menu_line(action, why_not(action)), line((f":{action.word}", Ink.DIM))),
            order=(),
            folded=f"{action.word} {action.label} {action.help} {action.group} {action.name_of_key}".casefold(),
        )
        for action in actions
    ]


def thing_rows(things: Iterable[str]) -> list[Row]:
    return [
        Row(
            key=f"{GO_TO}{thing}",
            cells=((), line(("go to", Ink.DIM)), line((thing, Ink.STRONG)), ()),
            order=(),
            folded=f"go to {thing}".casefold(),
        )
        for thing in things
    ]


def menu_line(action: Action, why_not: str | None) -> Sequence[Line]:
    """The three cells of an action in the menu: key, label, and what it does or why it cannot."""
    label = Ink.DIM if why_not else Ink.PLAIN
    return (
        line((action.name_of_key, Ink.DIM if why_not else Ink.KEY)),
        line((action.label, label)),
        line((why_not or action.help, Ink.WARN if why_not else Ink.DIM)),
    )
