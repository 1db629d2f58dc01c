"""Why something is as it is, as lines: what ``why`` answers, for a capability, a generation or a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evatui.console.view.ink import EMPTY, Ink, Line, line
from evatui.console.view.words import LABELS, WAITS, Look, clock, duration, glyph
from evatui.kernel.model.lifecycle import State

__all__ = ["story_lines"]

Told = Mapping[str, Any]

_DISK = {
    "same": "the disk holds the same",
    "changed": "the disk holds another version, which is not in service yet",
    "rejected": "what the disk holds is refused",
    "held": "what the disk holds waits",
    "quarantined": "what the disk holds was rolled back",
    "missing": "its manifest is gone from the disk",
}
_STEPS = {
    "abort": "take back what is tried out",
    "approve": "let what waits go into service",
    "capability": "the story of the capability",
    "compare": "what the version on disk changes",
    "enable": "switch it on again",
    "explain": "read the whole refusal (3)",
    "faults": "the calls that failed (6)",
    "mend": "mend this, and save (e)",
    "promote": "let what is tried out take all calls",
    "records": "every record of it",
    "restart": "apply what waits",
    "retry": "try what the disk holds again",
    "rollback": "serve an earlier version (R)",
    "trace": "the call with all that were made for it",
    "trust": "see what it asks for, and trust it (T)",
}


def story_lines(data: Told, look: Look) -> list[Line]:
    """From what is so, over what happened, to what can be done."""
    about = {"capability": _capability, "generation": _generation, "request": _request}.get(str(data.get("about")))
    lines = list(about(data, look)) if about is not None else []
    steps = data.get("next") or ()
    if steps:
        lines += [EMPTY, line(("What to do", Ink.STRONG))]
    for step in steps:
        what = step.get("command") or step.get("place")
        lines.append(line(f"  {_STEPS.get(step['do'], step['do'])}", (f"  {what}", Ink.INFO)))
    return lines


def _capability(data: Told, look: Look) -> Iterator[Line]:
    serving, disk = data.get("serving"), data.get("on_disk") or {}
    marks = f"  {', '.join(data['marks'])}" if data.get("marks") else ""
    yield line(
        (_state(data.get("state"), look), Ink.STRONG), f" since {_at(data.get('since'), look)}", (marks, Ink.WARN)
    )
    there = _DISK.get(str(disk.get("status")), "")
    if serving:
        by = f" by {_who(serving.get('actor'))}" if serving.get("actor") else ""
        flying = f", {serving['in_flight']} in flight" if serving.get("in_flight") else ""
        said = f" {serving.get('version')} serves since {_at(serving.get('since'), look)}{by}{flying}; {there}"
        yield line((str(serving.get("number")), Ink.STRONG), said)
        if serving.get("unwell"):
            yield line(("Its health check fails by now; others are asked before it.", Ink.WARN))
    else:
        yield line(("Nothing serves: ", Ink.WARN), there or str(data.get("reason") or "nothing was loaded yet"))
    if data.get("hold"):
        yield line((f"An operator has {data['hold']} it, over reloads and restarts, until it is enabled.", Ink.WARN))
    for diagnostic in disk.get("diagnostics") or ():
        yield line((f"  {diagnostic.get('code')} ", Ink.BAD), f"{diagnostic.get('message')}", _place(diagnostic))
    if waits := data.get("waits"):
        said = WAITS.get(str(waits.get("waits_for")), "waits")
        yield line((f"A version {said} since {_at(waits.get('since'), look)}", Ink.WARN))
    if data.get("canary"):
        yield line(f"{data['canary']} is tried out beside it.")
    yield from _transitions(data, look)
    yield from _records("Ordered", data.get("orders"), look)
    earlier = [f"{_at(one.get('at'), look)}  {one.get('summary')}" for one in data.get("rejections") or ()]
    yield from _part("Refused", (line(f"  {row}") for row in earlier))
    yield from _records("Calls that failed", data.get("faults"), look)


def _generation(data: Told, look: Look) -> Iterator[Line]:
    whose = f"  {data.get('number')} of {data.get('capability_id')}, version {data.get('version')}"
    yield line((_state(data.get("state"), look), Ink.STRONG), whose)
    served = f"served last {_at(data['served_at'], look)}" if data.get("served_at") else "never served"
    yield line(f"made {_at(data.get('created_at'), look)}, {served}", ("  kept" if data.get("kept") else "", Ink.INFO))
    if data.get("quarantined"):
        yield line(("It was rolled back, and is not loaded again by itself.", Ink.WARN))
    yield from _transitions(data, look)
    yield from _records("Ordered", data.get("orders"), look)
    yield from _records("Calls that failed", data.get("faults"), look)


def _request(data: Told, look: Look) -> Iterator[Line]:
    call, running = data.get("call"), data.get("running")
    if running:
        inside = f", in {running['host_call']}" if running.get("host_call") else ""
        said = f" calls {running.get('capability')}, for {duration(running.get('elapsed_ms') or 0)} so far{inside}"
        yield line((_who(running.get("actor")), Ink.STRONG), said)
    elif call:
        name = call.get("capability") or call.get("capability_id")
        on = f" on {call['generation']}" if call.get("generation") else ", which nobody answered"
        yield line((_who(call.get("actor")), Ink.STRONG), f" called {name} at {_at(call.get('at'), look)}{on}")
        spent = f" after {duration(call['duration_ms'])}" if call.get("duration_ms") is not None else ""
        well = call.get("outcome") == "ok"
        yield line(
            f"It ended{spent}: ", (str(call.get("error_kind") or call.get("outcome")), Ink.OK if well else Ink.BAD)
        )
    else:
        yield line("An order, and no call." if data.get("orders") else "Nobody has written down how it ended.")
    if parent := data.get("parent"):
        yield line(f"It was made for {parent.get('request_id')}, a call of {parent.get('capability_id')}.")
    asked = [
        f"  {one.get('fn')} {one.get('target') or ''}  {one.get('outcome')}" for one in data.get("host_calls") or ()
    ]
    yield from _part("It asked the host for", map(line, asked))
    made = [
        f"  {one.get('capability')}  {one.get('outcome')}  {one.get('request_id')}"
        for one in data.get("children") or ()
    ]
    yield from _part("It called", map(line, made))
    yield from _records("It changed", data.get("orders"), look)
    events = [
        f"  {_at(one.get('at'), look)}  {one.get('topic')} {one.get('id') or ''}" for one in data.get("events") or ()
    ]
    yield from _part("It caused", map(line, events))


def _transitions(data: Told, look: Look) -> Iterator[Line]:
    rows = [
        line(
            (f"  {_at(step.get('at'), look)}  ", Ink.DIM),
            f"{step.get('number') or ''} {_label(step.get('from'))} → {_label(step.get('to'))}",
            (f"  by {step.get('actor')}", Ink.DIM),
            (f"  {step['reason']}" if step.get("reason") else "", Ink.DIM),
        )
        for step in data.get("transitions") or ()
    ]
    yield from _part("Its states", rows)


def _records(title: str, records: Iterable[Told] | None, look: Look) -> Iterator[Line]:
    rows = [
        line(
            (f"  {_at(one.get('at'), look)}  ", Ink.DIM),
            f"{one.get('code')}",
            (f" {one['error_kind']}" if one.get("error_kind") else "", Ink.BAD),
            (f"  by {_who(one.get('actor'))}", Ink.DIM),
            (f"  {one['reason']}" if one.get("reason") else "", Ink.DIM),
            (f"  {one.get('request_id') or ''}", Ink.DIM),
        )
        for one in records or ()
    ]
    yield from _part(title, rows)


def _part(title: str, rows: Iterable[Line]) -> Iterator[Line]:
    rows = list(rows)
    if rows:
        yield EMPTY
        yield line((title, Ink.STRONG))
        yield from rows


def _place(diagnostic: Told) -> tuple[str, Ink]:
    return (f"  {diagnostic['place']}" if diagnostic.get("place") else "", Ink.DIM)


def _state(value: object, look: Look) -> str:
    try:
        state = State(str(value))
    except ValueError:
        return str(value)
    return f"{glyph(state, look)} {LABELS[state]}"


def _label(value: object) -> str:
    try:
        return LABELS[State(str(value))]
    except ValueError:
        return "new"


def _at(value: object, look: Look) -> str:
    return clock(str(value), look)


def _who(actor: object) -> str:
    """A name, and by which way where it is no person at a console."""
    if not isinstance(actor, Mapping):
        return str(actor or "somebody")
    kind, name = str(actor.get("type") or ""), str(actor.get("id") or "")
    return name if kind in ("user", "kernel") and name else f"{name} ({kind})" if name else kind
