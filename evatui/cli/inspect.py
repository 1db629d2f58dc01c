"""How ``eva capability inspect`` reads in a terminal: what serves, what it may do and why, and where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from evatui.cli.screen import Screen
from evatui.cli.show import show_diagnostics, state_words
from evatui.kernel.model.text import clean_line

__all__ = ["show_held", "show_inspected"]

_SHORT = 16
_TRENDS = {"widened": ("+", "yellow"), "narrowed": ("-", "green"), "unchanged": ("=", "dim")}


def show_inspected(screen: Screen, data: Mapping[str, Any]) -> None:
    screen.show(_title(data))
    for name, value in _facts(data):
        screen.line(f"  {name:<10}{value}")
    show_diagnostics(screen, data.get("warnings") or ())
    _permissions(screen, data["permissions"]["explained"])
    if held := data.get("held"):
        screen.line("")
        show_held(screen, held)
    _generations(screen, data["generations"])
    rows = [(path, digest[:_SHORT]) for path, digest in data["digests"].items()]
    _table(screen, "FILES", ("PATH", "DIGEST"), rows)


def _title(data: Mapping[str, Any]) -> Text:
    title = Text(clean_line(data["id"]), "bold")
    title.append("  ").append(state_words(data["state"]))
    if data["marks"]:
        title.append(f"  ({clean_line(', '.join(data['marks']), 80)})", "yellow")
    return title


def _facts(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    manifest, isolation, counters = data.get("manifest") or {}, data["isolation"], data["counters"]
    if description := manifest.get("description"):
        yield "what", clean_line(str(description), 200)
    yield "serves", data["generation"] or "nothing"
    yield "kind", f"{data['kind'] or '–'}, priority {data['priority']}"
    yield "provides", ", ".join(data["capabilities"]) or "–"
    if isolation["in_force"]:
        yield "runs", f"{isolation['in_force'].replace('_', '-')}: {isolation['why']}"
    yield "on disk", f"{data['on_disk']['status']}, {data['path']}" + (f": {data['reason']}" if data["reason"] else "")
    if canary := data.get("canary"):
        yield "canary", _tried_out(canary)
    queued = f", {counters['queued']} queued" if counters["queued"] else ""
    yield "calls", f"{counters['calls']}, {counters['errors']} failed, {data['in_flight']} in flight{queued}"


def _tried_out(canary: Mapping[str, Any]) -> str:
    tried, beside = (f"{side['faults']} of {side['samples']} failed" for side in (canary["canary"], canary["baseline"]))
    left = canary["seconds_left"]
    when = "" if left is None else f", {left:.0f} s left, then {canary['on_insufficient_data']}"
    counts = f"{canary['verdict']}, {tried}, {beside} beside it"
    return f"{canary['number']} takes {canary['takes']}: {counts}; {canary['phase']}{when}"


def _permissions(screen: Screen, explained: Mapping[str, Any]) -> None:
    asked = [*explained.get("permissions", ()), *explained.get("names", ())]
    rows = [(_sign(found), found["permission"], _entry(found["entry"]), found["why"]) for found in asked]
    _table(screen, "MAY", ("", "PERMISSION", "ENTRY", "WHY"), rows)
    limits = [
        (each["limit"], str(each["value"]), str(each["in_force"]), str(each["ceiling"]), each["place"])
        for each in (*explained.get("limits", ()), *explained.get("audit", ()))
    ]
    _table(screen, "LIMITS", ("LIMIT", "ASKED", "IN FORCE", "CEILING", "FROM"), limits)


def _sign(found: Mapping[str, Any]) -> Text:
    return Text("✗", "red") if found["taken_by"] else Text("✓", "green")


def show_held(screen: Screen, held: Mapping[str, Any]) -> None:
    """What waits, each field that it would gain or lose, and why."""
    screen.line(f"◌ waits for {held['waits_for']} since {held['since']}", "bold yellow")
    screen.line(f"  digest {held['digest']}", "dim")
    rows = [_change(change) for change in held["permissions"]]
    if rows:
        screen.table(("", "FIELD", "BEFORE", "AFTER"), rows)
    show_diagnostics(screen, held["diagnostics"])


def _change(change: Mapping[str, Any]) -> tuple[str | Text, ...]:
    sign, style = _TRENDS[change["change"]]
    before, after = (", ".join(map(_entry, change[side])) or "–" for side in ("from", "to"))
    return Text(f"{sign} {change['change']}", style), change["path"], before, after


def _generations(screen: Screen, rows: Sequence[Mapping[str, Any]]) -> None:
    shown = [
        (
            row["number"],
            row["version"],
            state_words(row["state"]),
            row["since"],
            row["digest"][:_SHORT],
            "can be restored" if row["restorable"] else "",
        )
        for row in rows
    ]
    _table(screen, "GENERATIONS", ("GEN", "VERSION", "STATE", "SINCE", "DIGEST", ""), shown)


def _table(screen: Screen, title: str, columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
    if rows:
        screen.line("")
        screen.line(title, "bold")
        screen.table(columns, rows)


def _entry(entry: Any) -> str:
    return " ".join(map(str, entry)) if isinstance(entry, list) else str(entry)
