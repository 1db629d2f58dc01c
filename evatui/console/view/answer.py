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
    "failure_lines",
    "outcome",
    "plan_changes",
    "plan_lines",
    "rendered_lines",
]

_MARKS = {"add": ("+", Ink.OK), "update": ("→", Ink.INFO), "remove": ("−", Ink.WARN)}
_UNDO = {
    "capability.reload": "R roll back",
    "capability.rollback": "R the one before",
    "capability.drain": "a enable",
    "capability.disable": "a enable",
    "capability.enable": "a disable",
    "capability.promote": "a undo",
    "capability.abort": "a undo",
    "capability.pause": "a resume",
    "capability.resume": "a pause",
    "trust.give": "a distrust",
    "trust.revoke": "T trust",
    "runtime.freeze": "a thaw",
    "runtime.thaw": "a freeze",
}
_DONE = {
    "capability.reload": "reloaded",
    "capability.rollback": "rolled back",
    "capability.drain": "drained",
    "capability.disable": "disabled",
    "capability.enable": "enabled",
    "capability.promote": "promoted",
    "capability.abort": "aborted",
    "capability.pause": "paused",
    "capability.resume": "resumed",
    "capability.undo": "undid the last order for",
    "capability.approve": "approved",
    "capability.revoke": "took back the approval of",
    "trust.give": "trusted the workspace",
    "trust.revoke": "trusts the workspace no more",
    "capability.call": "called",
    "runtime.restart": "restarted the runtime",
    "runtime.freeze": "frozen",
    "runtime.thaw": "thawed",
}


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
    answered = _response(data)
    if answered.get("ok"):
        lines = [join((line(("✓ ok", Ink.OK)), _came_from(data, sent))), *_json(answered.get("result"))]
        if answered.get("meta"):
            lines += [line(("meta", Ink.DIM)), *_json(answered["meta"])]
    else:
        told = _error(data)
        head = line((f"✗ {told.get('kind')}", Ink.BAD), f"  {told.get('message')}")
        lines = [head, _came_from(data, sent), *_json(told.get("details"))]
    return lines


def _response(data: Mapping[str, Any]) -> Mapping[str, Any]:
    response = data.get("response")
    return response if isinstance(response, Mapping) else {}


def _error(data: Mapping[str, Any]) -> Mapping[str, Any]:
    error = _response(data).get("error")
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


def outcome(sent: Sent) -> Line:
    """One line: what came of it, how long it took, how to undo it, and the same on the command line."""
    target = _target(sent.params)
    if sent.failed is not None:
        hint = f"  {sent.failed.suggestion}" if sent.failed.suggestion else ""
        return line(
            (f"✗ {sent.failed.kind} ", Ink.BAD), f"{target}: " if target else "", sent.failed.message, (hint, Ink.DIM)
        )
    data = sent.data or {}
    if sent.command == "capability.call" and not _response(data).get("ok"):
        error = _error(data)
        return line(
            (f"✗ {error.get('kind')} ", Ink.BAD), f"{target}: {error.get('message')}", (f"  {sent.line}", Ink.DIM)
        )
    what = _DONE.get(sent.command, sent.command)
    move = " → ".join(str(name) for name in (data.get("from_number"), data.get("to_number")) if name)
    cut = data.get("cut") or 0
    refused = sum(change.get("action") == "reject" for change in plan_changes(data))
    published = len(plan_changes(data)) - refused if sent.command == "runtime.thaw" else 0
    took = data.get("applied") if sent.command == "runtime.restart" else None  # a plan is applied or not
    return line(
        ("✗ " if refused else "✓ ", Ink.BAD if refused else Ink.OK),
        f"{what} ",
        (target, Ink.STRONG),
        (f" {move}" if move else "", Ink.PLAIN),
        (f" {published} change{'' if published == 1 else 's'} published" if published else "", Ink.OK),
        (f" {refused} refused (3 says why)" if refused else "", Ink.BAD),
        (f" {', '.join(took)} took effect" if took else "", Ink.OK),
        (f" {cut} call{'' if cut == 1 else 's'} cut" if cut else "", Ink.WARN),
        (f" {data['note']}" if data.get("note") else "", Ink.WARN),
        (
            f" {waits} still waits for more (3 says for what)" if (waits := len(data.get("waiting") or ())) else "",
            Ink.WARN,
        ),
        (f" in {duration(sent.took_ms)}", Ink.DIM),
        (f"  {undo}" if (undo := _undo(sent)) else "", Ink.KEY),
        (f"  {sent.line}", Ink.DIM),
    )


def _undo(sent: Sent) -> str:
    """An approval that has taken effect is undone as any new version is, one that has not is taken back."""
    if sent.command == "capability.approve":
        return "R roll back" if (sent.data or {}).get("to") else "a revoke"
    return _UNDO.get(sent.command, "")


def _target(params: Mapping[str, Any]) -> str:
    ids = params.get("ids")
    return ", ".join(ids) if ids else str(params.get("provider") or params.get("id") or params.get("name") or "")


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
