"""The footer, the page of keys and the menu of a thing, made from the action table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evatui.console.view.actions import Action, Actions, View
from evatui.console.view.ink import EMPTY, Ink, Line, fit, line, measure

if TYPE_CHECKING:
    from evatui.console.view.enabled import Subject
    from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["footer", "help_page", "menu_line"]


def footer(actions: Actions, view: View, snapshot: ConsoleSnapshot | None, subject: Subject, width: int) -> Line:
    """Keys that do something here; help and leave stay when there is no room for all."""
    shown = [action for action in actions.footer(view) if not action.enabled(snapshot, subject)]
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


def _hint(action: Action) -> Line:
    return line((f" {action.name_of_key}", Ink.KEY), (f" {action.label} ", Ink.DIM))


def help_page(actions: Actions, view: View) -> list[Line]:
    """Every key, by group; those of other views say so."""
    lines: list[Line] = []
    for group in dict.fromkeys(action.group for action in actions.all):
        lines += [EMPTY] if lines else []
        lines.append(line((group, Ink.STRONG)))
        for action in (action for action in actions.all if action.group == group):
            key = action.name_of_key if action.key else "a …"
            where = "" if view in action.views else f"  (in {', '.join(sorted(action.views))})"
            lines.append(
                line((f"  {key:<8}", Ink.KEY), f"{action.label:<13}", (action.help, Ink.DIM), (where, Ink.DIM))
            )
    return lines


def menu_line(action: Action, why_not: str | None) -> Sequence[Line]:
    """The three cells of an action in the menu: key, label, and what it does or why it cannot."""
    label = Ink.DIM if why_not else Ink.PLAIN
    return (
        line((action.name_of_key, Ink.DIM if why_not else Ink.KEY)),
        line((action.label, label)),
        line((why_not or action.help, Ink.WARN if why_not else Ink.DIM)),
    )
