"""Plugins as rows and cards: what of them may run, who signed them, and what runs in the background."""

from __future__ import annotations

from collections.abc import Iterator

from evatui.console.view.answer import rendered_lines
from evatui.console.view.ink import EMPTY, Ink, Line, join, line
from evatui.control.extensions import PluginRow, PluginTaskRow

__all__ = ["plugin_card", "plugin_state", "plugin_why", "progress_bar", "task_card", "task_state", "task_why"]

_BAR = 10
_WHY = {
    "policy_denied": "the policy keeps plugins of the user's own from use",
    "signature_invalid": "the policy wants plugins signed with a key that it lists",
}
_SIGNED = {"signed": ("signed", Ink.OK), "unsigned": ("not signed", Ink.DIM), "unknown_key": ("unknown key", Ink.WARN)}
_STATES = {
    "up": ("● up", Ink.OK),
    "idle": ("● idle", Ink.OK),
    "down": ("✗ down", Ink.BAD),
    "held": ("◌ held", Ink.WARN),
    "denied": ("✗ denied", Ink.BAD),
}
_TASKS = {
    "running": ("◐ running", Ink.INFO),
    "done": ("● done", Ink.OK),
    "failed": ("✗ failed", Ink.BAD),
    "cancelled": ("⊘ cut", Ink.WARN),
}


def plugin_state(one: PluginRow) -> Line:
    if not one.available:
        return line(("⊘ not now", Ink.WARN))
    return line(_STATES.get(one.state, ("● available", Ink.OK)))


def plugin_why(one: PluginRow) -> str:
    """Why it cannot be used, else what it holds."""
    if one.missing or one.reason:
        return "; ".join(one.missing) or _WHY.get(one.reason, one.reason)
    if one.state in ("held", "down", "denied"):
        return one.detail
    broken = [hook.event for hook in one.hooks if hook.state == "disabled"]
    if broken:
        return f"disabled after three failures: {', '.join(broken)}"
    if one.stale:
        return "goes on as it was: what the disk holds is refused"
    if one.shadows:
        return f"shadows {', '.join(one.shadows)}"
    signed = _SIGNED.get(one.signed, (one.signed, Ink.DIM))[0]
    holds = ((len(one.tools), "tool"), (len(one.hooks), "hook"), (one.servers, "MCP server"))
    return ", ".join((*(_counted(number, noun) for number, noun in holds if number), signed))


def plugin_card(one: PluginRow) -> Iterator[Line]:
    """The first two lines say the most."""
    signed, ink = _SIGNED.get(one.signed, (one.signed, Ink.DIM))
    waits = "waits for trust (T)" if one.state == "held" else ""
    marks = line((signed, ink), (f"  {waits}" if waits else "", Ink.WARN))
    yield join((plugin_state(one), line((one.name, Ink.STRONG)), line((one.version, Ink.DIM)), marks))
    yield line(plugin_why(one))
    yield EMPTY
    for name, value in (
        ("what", one.description),
        ("kind", one.kind),
        ("layer", one.layer),
        ("location", one.location),
        ("digest", one.digest),
        ("key", one.key_id or "none"),
        ("shadows", ", ".join(one.shadows) or "nothing"),
        ("network", "asked for" if one.network else "no"),
        ("servers", _counted(one.servers, "MCP server") if one.servers else "none"),
    ):
        yield line((f"{name:<10}", Ink.DIM), value)
    for tool in one.tools:
        told = [word for word, holds in (("background", tool.background), ("by hand", tool.by_hand)) if holds]
        yield line(
            (f"  {tool.risk:<9}", Ink.WARN if tool.by_hand else Ink.DIM),
            (tool.capability, Ink.STRONG),
            (f"  {', '.join(told)}" if told else "", Ink.INFO),
            (f"  {tool.description}", Ink.DIM),
        )
    for hook in one.hooks:
        only = f"  for {', '.join(hook.tools)}" if hook.tools else ""
        ink = {"armed": Ink.OK, "disabled": Ink.BAD}.get(hook.state, Ink.DIM)
        yield line((f"  {hook.state:<12}", ink), (hook.event, Ink.STRONG), f"  {hook.command}", (only, Ink.DIM))
    for found in one.diagnostics:
        yield EMPTY
        yield from rendered_lines(found.rendered or f"{found.code} {found.message}")


def task_state(one: PluginTaskRow) -> Line:
    return line(_TASKS.get(one.state, (one.state, Ink.PLAIN)))


def task_why(one: PluginTaskRow) -> Line:
    """How far it has come, and what it says; once it has ended, how."""
    if one.state == "running":
        return join((progress_bar(one.fraction), line((one.message, Ink.DIM))))
    return line((one.error or one.message or f"ended {one.ended}", Ink.DIM))


def task_card(one: PluginTaskRow) -> Iterator[Line]:
    title = line((f"{one.plugin}.{one.tool}", Ink.STRONG))
    yield join((task_state(one), title, line((one.version, Ink.DIM))))
    yield task_why(one)
    yield EMPTY
    ended = one.ended or "not yet"
    for name, value in (("task", one.handle), ("began", one.began), ("ended", ended), ("said", one.message)):
        yield line((f"{name:<10}", Ink.DIM), value)


def progress_bar(fraction: float | None) -> Line:
    """``━━━━────── 43 %``; all dim where nobody knows."""
    if fraction is None:
        return line(("─" * _BAR, Ink.DIM), ("  – %", Ink.DIM))
    full = min(_BAR, int(fraction * _BAR))
    return line(("━" * full, Ink.OK), ("─" * (_BAR - full), Ink.DIM), f" {int(fraction * 100):>2} %")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
