"""The table in ``docs/console.md``, made from that of the console: ``python -m tests.docs.actions_page`` writes it."""

from __future__ import annotations

from pathlib import Path

from evatui.console.view.actions import ACTIONS, GROUPS, VIEWS, Action, Takes, View
from evatui.control.commands import Danger

__all__ = ["BEGIN", "END", "PAGE", "page"]

PAGE = Path(__file__).parents[2] / "docs" / "console.md"
BEGIN = "<!-- made from the table of actions: from here -->\n"
END = "<!-- made from the table of actions: to here -->\n"

_ASKS = {
    Danger.FREE: "",
    Danger.PLAN: "plan, `enter`",
    Danger.DIALOG: "dialog, `y`",
    Danger.TYPED: "the id, typed",
}


def page(text: str) -> str:
    """``text`` with its table as the actions are."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{_tables()}{END}{after}"


def _tables() -> str:
    return "\n".join(_group(group) for group in GROUPS) + "\n"


def _group(group: str) -> str:
    rows = [_row(action) for action in ACTIONS if action.group == group]
    return "\n".join([f"\n### {group}\n", "| key | command | id | | asks for |", "|---|---|---|---|---|", *rows])


def _row(action: Action) -> str:
    keys = " ".join(f"`{key}`" for key in action.name_of_key.split()) if action.key else ""
    takes = f" {action.takes}" if action.takes is not Takes.NOTHING else ""
    places = ", ".join(VIEWS[view][1] for view in VIEWS if view in action.views)
    views = "" if action.views == frozenset(View) else f" (in {places})"
    asks = _ASKS[action.danger] or ("`ctrl+s`" if action.id == "call" else "")
    return f"| {keys} | `:{action.word}{takes}` | {action.id} | {_cell(action.help)}{views} | {asks} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
