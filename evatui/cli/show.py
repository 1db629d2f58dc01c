"""How the data of the commands reads in a terminal. Shapes: what `evatui.control` hands out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from evatui.cli.screen import Screen
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.text import clean_line

__all__ = [
    "audit_cells",
    "scalar",
    "show_audit",
    "show_capabilities",
    "show_changes",
    "show_diagnostics",
    "show_difference",
    "show_history",
    "show_outline",
    "show_plan",
    "show_receipt",
    "show_status",
    "state_words",
    "who",
]

_STATES = {
    State.PENDING: ("…", "yellow"),
    State.SHADOW: ("◌", "cyan"),
    State.ACTIVE: ("●", "green"),
    State.DRAINING: ("◐", "yellow"),
    State.DISABLED: ("⊘", "dim"),
    State.REJECTED: ("✗", "red"),
    State.UNREGISTERED: ("·", "dim"),
}
_ACTIONS = {
    "add": ("+", "green"),
    "update": ("~", "yellow"),
    "remove": ("-", "red"),
    "unchanged": ("=", "dim"),
    "reject": ("✗", "red"),
    "hold": ("◌", "cyan"),
}
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan", "=": "cyan"}
_ON_DISK = {"same": "", "changed": "changed", "missing": "missing", "rejected": "✗ refused", "held": "◌ held"}


def state_words(state: str) -> Text:
    """The glyph, the word, and a colour that says nothing more than these."""
    if state not in set(State):
        return Text(clean_line(state, 40))
    glyph, style = _STATES[State(state)]
    return Text(f"{glyph} {state}", style)


def show_status(screen: Screen, data: Mapping[str, Any]) -> None:
    runtime = data.get("runtime")
    if runtime:
        held = f"held by pid {runtime.get('pid')} since {runtime.get('since')}, mode {runtime.get('mode')}"
    else:
        held = "no runtime holds this workspace; below is what a start would give"
    screen.line(held, "bold")
    counts = data.get("counts") or {}
    screen.table(("STATE", "CAPABILITIES"), [(state_words(state), str(count)) for state, count in counts.items()])
    rest = {key: value for key, value in data.items() if key not in {"runtime", "counts"}}
    show_outline(screen, {key: _indicator(value) for key, value in rest.items()})


def _indicator(value: Any) -> Any:
    """``{ok, word, detail}`` as a person says it."""
    if not isinstance(value, Mapping) or "ok" not in value:
        return value
    said = " ".join(str(value[key]) for key in ("word", "detail") if value.get(key))
    since = f", since {value['since']}" if value.get("since") else ""
    return f"{'●' if value['ok'] else '✗'} {said}{since}".rstrip()


def show_capabilities(screen: Screen, data: Mapping[str, Any]) -> None:
    rows, problems = data["capabilities"], data.get("problems") or ()
    if rows:
        columns = ("STATE", "ID", "GENERATION", "PROVIDES", "IN FLIGHT", "DISK", "REASON")
        screen.table(columns, [_capability(row) for row in rows], ("IN FLIGHT", "PROVIDES"))
    elif not problems:
        screen.line("This workspace has no capabilities.")
    for one in data.get("adapters") or ():
        said = f"  {one['detail']}" if one["detail"] else ""
        names = ", ".join(one["capabilities"])
        style = "red" if one["state"] == "down" else "yellow" if one["state"] == "held" else ""
        screen.line(f"⇄ {one['id']}  {one['transport']}  {one['state']}  {names}{said}", style)
    for entry in data.get("shadowed") or ():
        screen.line(f"{entry['name']}: {entry['served_by']} answers, before {', '.join(entry['behind'])}", "dim")
    for file in data.get("files") or ():
        screen.line(f"· {file['path']} defines nothing: {file['why']}", "dim")
    if more := data.get("more_files"):
        screen.line(f"· and {more} more files define nothing", "dim")
    for warning in data.get("warnings") or ():
        screen.line(f"! {warning['id']}  {_place(warning)}  {warning['code']} {warning['message']}", "yellow")
    for problem in problems:
        style = "yellow" if problem.get("level") == "warning" else "red"
        screen.line(f"✗ {problem['code']} {problem['message']}", style)


def _capability(row: Mapping[str, Any]) -> tuple[str | Text, ...]:
    generation = " ".join(part for part in (row.get("number"), row.get("version")) if part)
    status = (row.get("on_disk") or {}).get("status", "same")
    state = state_words(row["state"])
    if marks := row.get("marks"):
        state.append(f" ({clean_line(', '.join(marks), 60)})")
    return (
        state,
        row["id"] or row.get("path") or "",
        generation,
        " ".join(row.get("capabilities") or ()),
        str(row.get("in_flight") or 0),
        " ".join(part for part in (_ON_DISK.get(status, status), (row.get("on_disk") or {}).get("code")) if part),
        f"{row.get('reason') or ''}  {row.get('path') or ''}".strip()
        if status == "rejected"
        else row.get("reason") or "",
    )


def _place(diagnostic: Mapping[str, Any]) -> str:
    spans = diagnostic.get("spans") or ()
    return f"{spans[0]['file']}:{spans[0]['line']}" if spans else ""


def show_difference(screen: Screen, data: Mapping[str, Any]) -> None:
    """What it may do first, then the lines."""
    screen.line(f"{data['id']}: {data['from']} → {data['to']}", "bold")
    for change in data["permissions"]:
        style = "yellow" if change["change"] == "widened" else ""
        screen.line(f"{change['change']}: {change['path']}: {scalar(change['from'])} → {scalar(change['to'])}", style)
    for line in data["text"].splitlines() or ["nothing changed"]:
        screen.line(line, _DIFF_STYLES.get(line[:1], ""))


def show_history(screen: Screen, data: Mapping[str, Any]) -> None:
    columns = ("STATE", "GENERATION", "VERSION", "LAST SERVED", "DIGEST", "")
    serving = {row["digest"] for row in data["generations"] if row["state"] == State.ACTIVE}
    screen.table(columns, [_generation(row, row["digest"] in serving) for row in data["generations"]])


def _generation(row: Mapping[str, Any], serves: bool) -> tuple[str | Text, ...]:
    kept = "can be gone back to" if row["kept"] and not serves else ""
    pinned = "pinned" if row["pinned"] else ""
    said = ", ".join(filter(None, ("rolled back" if row["quarantined"] else "", kept, pinned)))
    served = row["served_at"] or "never"
    return state_words(row["state"]), row["number"], row["version"], served, row["digest"][:12], said


def show_outline(screen: Screen, data: Mapping[str, Any]) -> None:
    """A value as indented ``key: value`` lines."""
    for line in _outline(data, 0):
        screen.show(line)


def _outline(value: Any, depth: int) -> list[Text]:
    indent = "  " * depth
    lines: list[Text] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            head = Text(f"{indent}{clean_line(str(key))}:", "bold")
            lines += _entry(head, item, depth)
    else:
        for item in value:
            lines += _entry(Text(f"{indent}-"), item, depth)
    return lines


def _entry(head: Text, item: Any, depth: int) -> list[Text]:
    if _nested(item):
        return [head, *_outline(item, depth + 1)]
    return [head.append(f" {scalar(item)}", "not bold")]


def _nested(item: Any) -> bool:
    if isinstance(item, Mapping):
        return bool(item)
    return isinstance(item, Sequence) and not isinstance(item, str) and any(_nested(i) or len(item) > 8 for i in item)


def scalar(item: Any) -> str:
    if isinstance(item, bool):
        return "yes" if item else "no"
    if item is None or item in ({}, [], ""):
        return "–"
    if isinstance(item, Sequence) and not isinstance(item, str):
        return ", ".join(scalar(i) for i in item)
    return clean_line(str(item), 2000)


def show_plan(screen: Screen, data: Mapping[str, Any]) -> None:
    """What a reload changed, or would change, with the reasons of what it refuses."""
    changes = data["changes"]
    show_changes(screen, changes)
    done = "applied" if data["applied"] else "nothing was switched"
    screen.line(f"{done}: {_counted(changes)}", "bold")
    screen.line(f"plan {data['plan_digest']}", "dim")


def show_changes(screen: Screen, changes: Sequence[Mapping[str, Any]]) -> None:
    rows = [_change(change) for change in changes if change["action"] != "unchanged"]
    if rows:
        screen.table(("ACTION", "ID", "FROM", "TO", "CLASS"), rows)
    for change in changes:
        if how := (change.get("begins") or {}).get("told"):
            screen.line(f"{change['id']} begins {how}")
        show_diagnostics(screen, [*(change.get("diagnostics") or ()), *(change.get("warnings") or ())])
        _show_examples(screen, change.get("examples") or ())


def _show_examples(screen: Screen, examples: Sequence[Mapping[str, Any]]) -> None:
    """The answers that are new beside the ones of what served."""
    for example in (one for one in examples if one["changed"]):
        screen.line(f"example {example['name']} answers differently:")
        for word, style in (("before", "red"), ("after", "green")):
            screen.line(f"  {word:<7}{_answer(example[word])}", style)


def _answer(answer: Mapping[str, Any]) -> str:
    error = answer["error"]
    return f"{error['kind']}: {error['message']}" if error else json.dumps(answer["result"], ensure_ascii=False)


def _counted(changes: Sequence[Mapping[str, Any]]) -> str:
    """``2 update, 1 reject, 9 unchanged``."""
    counts = Counter(change["action"] for change in changes)
    return ", ".join(f"{counts[action]} {action}" for action in _ACTIONS if counts[action]) or "no manifests"


def _change(change: Mapping[str, Any]) -> tuple[str | Text, ...]:
    glyph, style = _ACTIONS.get(change["action"], ("?", ""))
    action = Text(f"{glyph} {change['action']}", style)
    return action, change["id"], *(str(change.get(key) or "–") for key in ("from", "to", "change_class"))


def show_diagnostics(screen: Screen, diagnostics: Sequence[Mapping[str, Any]]) -> None:
    """As they are rendered, with room around them."""
    for diagnostic in diagnostics:
        screen.show("")
        screen.block(diagnostic.get("rendered") or f"{diagnostic['code']}: {diagnostic['message']}")
    if diagnostics:
        screen.show("")


def show_receipt(screen: Screen, data: Mapping[str, Any]) -> None:
    way = " → ".join(str(data[key]) for key in ("from", "to") if data.get(key))
    what = f"{data['action']} {data['id']}" + (f": {way}" if way else "")
    screen.line(f"{what}  ({data.get('duration_ms', 0)} ms)")
    if note := data.get("note"):
        screen.line(note, "yellow")
    if data.get("cut"):
        screen.line(f"{data['cut']} cut:", "yellow")
    for cut in data.get("cut_calls") or ():
        screen.line(f"  {cut['request_id']}  {cut['caller']}  after {cut['elapsed_ms']} ms", "yellow")


def show_audit(screen: Screen, records: Sequence[Mapping[str, Any]]) -> None:
    columns = ("SEQ", "AT", "CODE", "OUTCOME", "ACTOR", "CAPABILITY", "GENERATION", "MS", "ERROR")
    spare = ("GENERATION", "MS", "OUTCOME", "ACTOR")
    screen.table(columns, [audit_cells(record) for record in records], spare)


def audit_cells(record: Mapping[str, Any]) -> tuple[str, ...]:
    spent = record.get("duration_us")
    return (
        str(record.get("seq", "")),
        str(record.get("at", "")),
        str(record.get("code", "")),
        str(record.get("outcome", "")),
        who(record.get("actor")),
        str(record.get("capability") or record.get("capability_id") or "–"),
        str(record.get("generation") or "–"),
        "–" if spent is None else f"{spent / 1000:.1f}",
        str(record.get("error_kind") or ""),
    )


def who(actor: Mapping[str, Any] | None) -> str:
    """``cli:ann``; the kernel has no other name."""
    parts = ((actor or {}).get("type"), (actor or {}).get("id"))
    return ":".join(dict.fromkeys(str(part) for part in parts if part)) or "somebody"
