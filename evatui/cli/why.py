"""``eva why``: a short story, from what is so to what can be done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.moments import ago
from evatui.cli.options import Settings, Word
from evatui.cli.screen import Screen
from evatui.cli.show import state_words, who
from evatui.kernel.model.lifecycle import State

__all__ = ["why"]

Told = Mapping[str, Any]

_DISK = {
    "same": "which is what the disk holds",
    "changed": "and the disk holds another version, which does not serve in its place",
    "rejected": "since what the disk holds is refused",
    "held": "since what the disk holds waits",
    "quarantined": "since what the disk holds was rolled back",
    "missing": "though its manifest is gone",
}
_IDLE = {
    "rejected": "what the disk holds is refused, and there is no earlier version to serve",
    "held": "what the disk holds waits",
    "missing": "its manifest was removed",
}
_WAITS = {
    "approval": "for approval, since it asks for more than it had",
    "trust": "until somebody trusts the workspace",
    "restart": "for the next start; it is approved",
}
_STEPS = {
    "abort": "take the canary back",
    "approve": "let what waits go into service",
    "capability": "the whole story of the capability",
    "compare": "what the version on disk changes",
    "enable": "let it serve again",
    "explain": "the whole refusal, with the place and the fix",
    "faults": "the calls that failed",
    "mend": "mend this, and save",
    "promote": "let the canary take all calls",
    "records": "every record of it",
    "restart": "apply what waits",
    "retry": "try again what the disk holds",
    "rollback": "serve an earlier version",
    "trace": "the call with all that were made for it",
    "trust": "see what it asks for, and trust it",
}


@click.command(cls=Word)
@click.argument("what", metavar="ID|REQUEST|GENERATION")
@click.pass_obj
def why(settings: Settings, what: str) -> Answer:
    """How a capability, a request or a generation came to be as it is, and what to do now."""
    data = settings.ask("why", what=what)
    return Answer(data, partial(_show, data=data))


def _show(screen: Screen, data: Told) -> None:
    {"capability": _capability, "generation": _generation, "request": _request}[data["about"]](screen, data)
    if data["next"]:
        screen.line("What to do", "bold")
        for step in data["next"]:
            screen.line(f"  {step['command'] or step['place']}   ({_STEPS[step['do']]})")


def _capability(screen: Screen, data: Told) -> None:
    now, serving, disk = data["now"], data["serving"], data["on_disk"]
    marks = f" ({', '.join(data['marks'])})" if data["marks"] else ""
    screen.show(state_words(data["state"]).append(f"  {data['id']}{marks}", "bold"))
    if serving:
        by = f" by {who(serving['actor'])}" if serving["actor"] else ""
        version = f"{serving['number']} (version {serving['version']})"
        screen.line(f"{version} serves, published {ago(serving['since'], now)}{by}, {_DISK[disk['status']]}.")
        if serving["unwell"]:
            screen.line("Its health check fails by now, so others are asked before it.", "yellow")
    else:
        because = _IDLE.get(disk["status"], data["reason"] or "nothing was loaded yet")
        screen.line(f"Nothing serves: {because}.")
    if data["hold"]:
        screen.line(f"An operator has {data['hold']} it, which holds over reloads and restarts.")
    if disk["diagnostics"]:
        screen.line(f"Refused {ago(disk['since'], now)}: {disk['path']}", "red")
        _diagnostics(screen, disk["diagnostics"])
    if waits := data["waits"]:
        screen.line(f"A version waits {_WAITS[waits['waits_for']]} (since {ago(waits['since'], now)}).", "yellow")
    if data["canary"]:
        screen.line(f"{data['canary']} is tried out beside it.")
    _transitions(screen, data["transitions"], now)
    _orders(screen, data["orders"], now)
    earlier = [one for one in data["rejections"] if one["digest"] != disk["digest"] or not disk["diagnostics"]]
    _lines(screen, "Refused before", (f"{ago(one['at'], now)}  {one['summary']}" for one in earlier))
    _faults(screen, data["faults"], now)


def _generation(screen: Screen, data: Told) -> None:
    now = data["now"]
    title = f"  {data['number']} of {data['capability_id']}, version {data['version']}"
    screen.show(state_words(data["state"]).append(title, "bold"))
    served = f"served last {ago(data['served_at'], now)}" if data["served_at"] else "never served"
    screen.line(f"{data['id']} was made {ago(data['created_at'], now)} and {served}.")
    if data["quarantined"]:
        screen.line("It was rolled back, and is not loaded again until it changes or somebody says so.", "yellow")
    elif data["kept"] and data["state"] != State.ACTIVE:
        screen.line("It is kept, so that it can be gone back to.")
    _transitions(screen, data["transitions"], now)
    _orders(screen, data["orders"], now)
    _faults(screen, data["faults"], now)


def _request(screen: Screen, data: Told) -> None:
    now, call, running = data["now"], data["call"], data["running"]
    screen.line(data["id"], "bold")
    if running:
        where = f", in {running['host_call']}" if running["host_call"] else ""
        caller = who(running["actor"])
        screen.line(f"{caller} called {running['capability']}, which runs for {running['elapsed_ms']:.0f} ms{where}.")
    elif call:
        name = call["capability"] or call["capability_id"]
        on = f" on {call['generation']}" if call["generation"] else ", which nobody answered"
        screen.line(f"{who(call['actor'])} called {name} {ago(call['at'], now)}{on}.")
        spent = f" after {call['duration_ms']:.1f} ms" if call["duration_ms"] is not None else ""
        ended = f"{call['outcome']}: {call['error_kind']}" if call["error_kind"] else call["outcome"]
        screen.line(f"It ended{spent}: {ended}.", "" if call["outcome"] == "ok" else "red")
    elif data["effects"]:
        screen.line("It announced effects, and nobody has written down how it ended.", "red")
    else:
        screen.line("An order, and no call.")
    if parent := data["parent"]:
        screen.line(f"It was made for {parent['request_id']}, a call of {parent['capability_id']}.")
    done = [f"{one['fn']} {one['target'] or ''}  {one['outcome']}" for one in data["host_calls"]]
    _lines(screen, "It asked the host for", done or [f"{one['fn']} {one['target']}  begun" for one in data["effects"]])
    children = (f"{one['capability']}  {one['outcome']}  {one['request_id']}" for one in data["children"])
    _lines(screen, "It called", children)
    _orders(screen, data["orders"], now)
    _lines(screen, "It caused", (_event(one, now) for one in data["events"]))


def _transitions(screen: Screen, steps: Iterable[Told], now: str) -> None:
    _lines(screen, "Its states", (_transition(one, now) for one in steps))


def _transition(one: Told, now: str) -> str:
    way = f"{one['from']} → {one['to']}" if one["from"] else one["to"]
    why = f", {one['reason']}" if one["reason"] else ""
    return f"{ago(one['at'], now)}  {one['number'] or '–'}  {way}  by {one['actor']}{why}"


def _orders(screen: Screen, orders: Iterable[Told], now: str) -> None:
    _lines(screen, "On record", (_order(one, now) for one in orders))


def _order(one: Told, now: str) -> str:
    about = "  ".join(str(one[name]) for name in ("generation", "reason", "request_id") if one[name])
    return f"{ago(one['at'], now)}  {one['code']}  by {who(one['actor'])}  {about}"


def _faults(screen: Screen, faults: Iterable[Told], now: str) -> None:
    rows = (f"{ago(one['at'], now)}  {one['error_kind'] or one['outcome']}  {one['request_id']}" for one in faults)
    _lines(screen, "Calls that failed last", rows)


def _event(one: Told, now: str) -> str:
    about = "  ".join(str(one[name]) for name in ("id", "generation", "reason") if one[name])
    return f"{ago(one['at'], now)}  {one['topic']}  {about}"


def _diagnostics(screen: Screen, diagnostics: Iterable[Told]) -> None:
    for one in diagnostics:
        screen.line(f"  {one['code']} {one['message']}" + (f"  at {one['place']}" if one["place"] else ""))
        if one["fix"]:
            screen.line(f"  fix: {one['fix']}", "dim")


def _lines(screen: Screen, title: str, lines: Iterable[str]) -> None:
    shown = list(lines)
    if shown:
        screen.line(title, "bold")
    for line in shown:
        screen.line(f"  {line}".rstrip())
