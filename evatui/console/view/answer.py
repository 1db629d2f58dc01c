"""What a command answered, as lines: a page, a plan, a call's response, and the status line's sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evatui.console.view.ink import EMPTY, Ink, Line, join, line
from evatui.console.view.payload import pretty
from evatui.console.view.permissions import permission_lines
from evatui.console.view.sent import Sent
from evatui.console.view.words import duration

__all__ = [
    "call_answer",
    "described",
    "error_of",
    "failure_lines",
    "plan_changes",
    "plan_lines",
    "rendered_lines",
    "response_of",
]

_MARKS = {"add": ("+", Ink.OK), "update": ("→", Ink.INFO), "remove": ("−", Ink.WARN)}


def plan_changes(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The changes of a plan that are none of ``unchanged``."""
    changes = plan.get("changes")
    known = [change for change in changes if isinstance(change, Mapping)] if isinstance(changes, Sequence) else []
    return [change for change in known if change.get("action") != "unchanged"]


def plan_lines(plan: Mapping[str, Any]) -> list[Line]:
    """Each change with what differs, or why it is refused."""
    lines: list[Line] = []
    for change in plan_changes(plan):
        action = str(change.get("action"))
        mark, ink = _MARKS.get(action, ("✗", Ink.BAD) if action == "reject" else ("◌", Ink.WARN))
        move = " → ".join(str(name) for name in (change.get("from"), change.get("to")) if name)
        lines.append(
            line((f"{mark} {action:<8}", ink), (str(change.get("id")), Ink.STRONG), (f"  {move}", Ink.DIM),
                 (f"  {change.get('change_class') or ''}", Ink.DIM))
        )  # fmt: skip
        lines += _difference(change.get("diff"))
        if change.get("reason"):
            lines.append(line((f"    {change['reason']}", Ink.WARN)))
        if isinstance(begins := change.get("begins"), Mapping) and begins.get("told"):
            lines.append(line((f"    begins {begins['told']}", Ink.INFO)))
        for diagnostic in change.get("diagnostics") or ():
            lines += [line("    ", *row) for row in rendered_lines(str(diagnostic.get("rendered") or ""))]
            if not diagnostic.get("rendered"):
                lines.append(line((f"    {diagnostic.get('code')} {diagnostic.get('message')}", Ink.BAD)))
    return lines


def _difference(diff: object) -> Iterator[Line]:
    if not isinstance(diff, Mapping):
        return
    for field in diff.get("fields") or ():
        yield line(
            (f"    {field.get('path')}: ", Ink.DIM), (_short(field.get("from")), Ink.BAD), " → ",
            (_short(field.get("to")), Ink.OK),
        )  # fmt: skip
    for file in diff.get("files") or ():
        what = "new" if not file.get("from") else "removed" if not file.get("to") else "changed"
        yield line((f"    {file.get('path')} ", Ink.PLAIN), (what, Ink.DIM))
    for permission in permission_lines(diff.get("permissions") or ()):
        yield line("    ", *permission)


def _short(value: object) -> str:
    if value is None:
        return "–"
    text = value if isinstance(value, str) else pretty(value).replace("\n", " ")
    return text if len(text) <= 60 else text[:59] + "…"


def rendered_lines(text: str) -> list[Line]:
    """A rendered diagnostic: its head stands out, carets and rules are told from the rest."""
    lines: list[Line] = []
    for index, row in enumerate(text.splitlines()):
        stripped = row.lstrip(" |│0123456789")
        if index == 0:
            ink = Ink.BAD
        elif stripped.startswith("^"):
            ink = Ink.WARN
        elif row.lstrip().startswith(("-->", "→")):
            ink = Ink.DIM
        else:
            ink = Ink.PLAIN
        lines.append(line((row, ink)))
    return lines


def call_answer(sent: Sent) -> list[Line]:
    """The response or the error, where it came from, how long it took, and the request id."""
    if sent.failed is not None:
        known = sent.failed.data or sent.failed.context
        return [*failure_lines(sent), _came_from(known, sent)]
    data = sent.data or {}
    answered = response_of(data)
    if answered.get("ok"):
        lines = [join((line(("✓ ok", Ink.OK)), _came_from(data, sent))), *_json(answered.get("result"))]
        if answered.get("meta"):
            lines += [line(("meta", Ink.DIM)), *_json(answered["meta"])]
    else:
        told = error_of(data)
        head = line((f"✗ {told.get('kind')}", Ink.BAD), f"  {told.get('message')}")
        lines = [head, _came_from(data, sent), *_json(told.get("details"))]
    return lines


def response_of(data: Mapping[str, Any]) -> Mapping[str, Any]:
    response = data.get("response")
    return response if isinstance(response, Mapping) else {}


def error_of(data: Mapping[str, Any]) -> Mapping[str, Any]:
    error = response_of(data).get("error")
    return error if isinstance(error, Mapping) else {}


def _came_from(data: Mapping[str, Any], sent: Sent) -> Line:
    took = data.get("duration_ms")
    shown = duration(took if isinstance(took, int | float) else sent.took_ms)
    words = (data.get("generation"), shown, data.get("request_id"))
    return line(("  ".join(str(word) for word in words if word), Ink.DIM))


def _json(value: object) -> list[Line]:
    return [line(row) for row in pretty(value).split("\n")]


def failure_lines(sent: Sent) -> list[Line]:
    assert sent.failed is not None
    lines = [line((f"✗ {sent.failed.kind}", Ink.BAD), f"  {sent.failed.message}")]
    if sent.failed.hint:
        lines.append(line(f"  {sent.failed.hint}"))
    return lines


def described(data: Mapping[str, Any]) -> list[Line]:
    """Nested data as indented names and values."""
    lines: list[Line] = []
    for name, value in data.items():
        lines += [EMPTY] if lines and isinstance(value, Mapping | list) else []
        lines += _entry(str(name), value, 0)
    return lines


def _entry(name: str, value: object, depth: int) -> Iterator[Line]:
    pad = "  " * depth
    if isinstance(value, Mapping) and value and depth < 8:
        yield line((f"{pad}{name}", Ink.STRONG if depth == 0 else Ink.DIM))
        for inner, item in value.items():
            yield from _entry(str(inner), item, depth + 1)
    elif isinstance(value, list) and value and depth < 8:
        yield line((f"{pad}{name}", Ink.STRONG if depth == 0 else Ink.DIM))
        for item in value:
            yield from _item(item, depth + 1)
    else:
        empty = value is None or value in ({}, [], "")
        shown = "–" if empty else value if isinstance(value, str) else pretty(value)
        for index, row in enumerate(str(shown).split("\n")):
            label = f"{pad}{name}: " if index == 0 else f"{pad}  "
            yield line((label, Ink.DIM), (row, Ink.DIM if empty else Ink.PLAIN))


def _item(item: object, depth: int) -> Iterator[Line]:
    pad = "  " * depth
    if not isinstance(item, Mapping):
        yield line((f"{pad}- ", Ink.DIM), item if isinstance(item, str) else pretty(item).replace("\n", " "))
        return
    for index, (name, value) in enumerate(item.items()):
        lead = f"{pad}- " if index == 0 else f"{pad}  "
        flat = value if isinstance(value, str) else pretty(value).replace("\n", " ")
        yield line((f"{lead}{name}: ", Ink.DIM), flat)
