"""What Textual offers and the console must not take, held against its source; and the keys that no terminal lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import evatui.console
from evatui.console.view.actions import ACTIONS

PLACE = Path(evatui.console.__file__).parent
NEVER = {
    "DataTable": "its cursor is a position, which another row takes",
    "RichLog": "it is unbounded, and scrolls away under who reads",
    "call_from_thread": "it waits for a loop that may wait for its thread",
    "notify": "its text is markup, and it covers the rows of a small screen",
    "print": "it ends up somewhere in the picture",
}
NAMED = {"minus", "plus", "slash", "colon", "question_mark", "asterisk", "space", "enter", "escape", "at"}
MOVING = {"up", "down", "home", "end", "pageup", "pagedown", "f1"}
AGREED = {"ctrl+p", "ctrl+q", "ctrl+c"}
"""What the whole world means by them."""


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PLACE.rglob("*.py")):
        yield str(path.relative_to(PLACE)), ast.parse(path.read_text(encoding="utf-8"))


def called(node: ast.AST) -> str:
    """What is called there, or imported."""
    if isinstance(node, ast.alias):
        return node.name
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def test_none_of_them_is_used() -> None:
    found = [(file, called(node)) for file, tree in trees() for node in ast.walk(tree) if called(node) in NEVER]
    assert found == []


def test_no_failure_beside_the_screen_ends_it() -> None:
    lacking = [
        (file, node.lineno)
        for file, tree in trees()
        for node in ast.walk(tree)
        if called(node) == "run_worker"
        and isinstance(node, ast.Call)
        and not any(word.arg == "exit_on_error" and ast.unparse(word.value) == "False" for word in node.keywords)
    ]
    assert lacking == []


def test_every_key_is_one_that_terminals_and_what_runs_in_them_leave_to_us() -> None:
    keys = {key for action in ACTIONS for key in action.key.split(",") if key}
    assert {key for key in keys if len(key) > 1} <= NAMED | MOVING | AGREED
