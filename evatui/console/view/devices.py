"""Devices as rows, and the selected one in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evatui.console.view.ink import EMPTY, Ink, Line, join, line, wrap
from evatui.console.view.rows import folded
from evatui.console.view.table import Column, Level, Row
from evatui.console.view.trend import spark
from evatui.console.view.words import Look, clock
from evatui.kernel.model.ids import fold

__all__ = ["DEVICE_COLUMNS", "DeviceRow", "device_preview", "device_row", "device_tab", "devices_in", "no_devices"]

DEVICE_COLUMNS = (
    Column(title="STATE", width=13),
    Column(title="DEVICE", width=18, flex=3),
    Column(title="BUS", width=6),
    Column(title="OWNER", width=10, flex=1, need=70),
    Column(title="WHY", width=14, flex=4),
    Column(title="SINCE", width=8, need=79),
)
_SIGNS: Mapping[str, tuple[str, Ink]] = {
    "online": ("●", Ink.OK),
    "authorized": ("●", Ink.OK),
    "present": ("◌", Ink.INFO),
    "settling": ("…", Ink.INFO),
    "opening": ("…", Ink.INFO),
    "handshaking": ("…", Ink.INFO),
    "degraded": ("◐", Ink.WARN),
    "quarantined": ("⊘", Ink.WARN),
    "ambiguous": ("◌", Ink.WARN),
    "denied": ("✗", Ink.BAD),
    "no_access": ("✗", Ink.BAD),
    "lost": ("✗", Ink.BAD),
    "absent": ("·", Ink.DIM),
    "disabled": ("⊘", Ink.DIM),
}
_LEVELS = {Ink.BAD: Level.ERROR, Ink.WARN: Level.WARN}


@dataclass(frozen=True, slots=True)
class Plugged:
    """One time that it was plugged in; ``until`` and ``why`` it ended are empty while it is."""

    generation: int
    since: str
    until: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRow:
    """A device, as ``hardware.list`` has it; ``label`` is its logical name, else what it calls itself."""

    key: str
    label: str
    bus: str
    state: str
    strength: str
    simulated: bool
    owner: str
    reason: str
    fix: str
    since: str
    generation: int = 0
    claimed: bool = False
    """An operator has it, not a call."""
    owned_since: str = ""
    request: str = ""
    epoch: int = 0
    waiting: int = 0
    traffic: tuple[float, ...] = ()
    """Bytes of each of the last seconds, the oldest first."""
    history: tuple[Plugged, ...] = ()
    """Newest first."""


def devices_in(data: Mapping[str, Any]) -> list[DeviceRow]:
    return [
        DeviceRow(
            key=str(told["key"]),
            label=str(told.get("logical_id") or told.get("name") or told["key"]),
            bus=str(told.get("bus") or ""),
            state=str(told.get("state") or ""),
            strength=str(told.get("strength") or ""),
            simulated=bool(told.get("simulated")),
            owner=str((told.get("owner") or {}).get("who") or ""),
            reason=str(told.get("reason") or ""),
            fix=str(told.get("fix") or ""),
            since=str(told.get("since") or ""),
            generation=int(told.get("generation") or 0),
            claimed=(told.get("owner") or {}).get("kind") == "operator",
            owned_since=str((told.get("owner") or {}).get("since") or ""),
            request=str((told.get("owner") or {}).get("request_id") or ""),
            epoch=int((told.get("owner") or {}).get("epoch") or 0),
            waiting=int(told.get("waiting") or 0),
            traffic=tuple(map(float, told.get("traffic") or ())),
            history=tuple(map(_plugged, told.get("history") or ())),
        )
        for told in data.get("devices") or ()
    ]


def _plugged(link: Mapping[str, Any]) -> Plugged:
    return Plugged(int(link["generation"]), str(link["attached"]), str(link["detached"]), str(link["reason"]))


def device_row(device: DeviceRow, look: Look) -> Row:
    sign, ink = _SIGNS.get(device.state, ("·", Ink.PLAIN))
    word = device.state.replace("_", " ")
    sim = (" SIM", Ink.INFO) if device.simulated else ("", Ink.PLAIN)
    return Row(
        key=device.key,
        cells=(
            line((f"{sign} {word}", ink)),
            line((device.label, Ink.STRONG), sim),
            line((device.bus, Ink.DIM)),
            line((device.owner or "–", Ink.PLAIN if device.owner else Ink.DIM)),
            line((device.reason, Ink.DIM)),
            line((clock(device.since, look) if device.since else "–", Ink.DIM)),
        ),
        order=(device.state, fold(device.label), device.bus, device.owner, device.reason, device.since),
        folded=folded(device.label, device.key, device.bus, device.owner, device.reason, state=device.state),
        level=_LEVELS.get(ink, Level.INFO),
    )


def device_preview(device: DeviceRow, width: int, look: Look) -> list[Line]:
    """What it is, why it may or may not be used, and what to do; the first two lines say the most."""
    sign, ink = _SIGNS.get(device.state, ("·", Ink.PLAIN))
    sim = line(("simulated", Ink.INFO)) if device.simulated else EMPTY
    state = line((f"{sign} {device.state.replace('_', ' ')}", ink))
    lines = [join((line((device.label, Ink.STRONG)), state, sim))]
    lines += wrap(line(device.reason or "it may be used"), width)
    if device.fix:
        lines += wrap(line(("to mend it: ", Ink.DIM), (device.fix, Ink.INFO)), width, "  ")
    lines.append(EMPTY)
    told = (
        ("key", device.key),
        ("bus", device.bus),
        ("known by", device.strength),
        ("since", clock(device.since, look) if device.since else "–"),
        ("lease", _lease(device, look)),
    )
    lines += [part for name, value in told for part in wrap(line((f"{name:<9}", Ink.DIM), value), width, " " * 9)]
    if any(device.traffic):
        said = f" {max(device.traffic):,.0f} B/s at most"
        lines.append(line((f"{'bytes':<9}", Ink.DIM), (spark(device.traffic[-30:]), Ink.INFO), (said, Ink.DIM)))
    return lines + _history(device, width, look)


def device_tab(device: DeviceRow, tab: str, width: int, look: Look) -> list[Line]:
    """A part of all that is known of it: ``Overview``, ``Lease``, ``History`` or ``Fix``."""
    match tab:
        case "Lease":
            return _lease_tab(device, width, look)
        case "History":
            return _history(device, width, look) or [line("It was never plugged in while a runtime looked.")]
        case "Fix":
            return _fix_tab(device, width)
    return device_preview(device, width, look)


def _lease_tab(device: DeviceRow, width: int, look: Look) -> list[Line]:
    if not device.owner:
        return [line("Nobody has it."), line(("Each call has it for itself; calls wait in line.", Ink.DIM))]
    told = {
        "owner": device.owner,
        "mode": "claimed by an operator" if device.claimed else "for one call",
        "request": device.request,
        "epoch": str(device.epoch),
        "since": clock(device.owned_since, look),
        "waiting": f"{device.waiting} calls",
    }
    return [part for name, value in told.items() for part in wrap(line((f"{name:<9}", Ink.DIM), value), width, " " * 9)]


def _fix_tab(device: DeviceRow, width: int) -> list[Line]:
    if not device.fix:
        return [line("Nothing is to be mended." if not device.reason else device.reason)]
    told = [*wrap(line(device.reason), width), EMPTY]
    told += [part for row in device.fix.splitlines() for part in wrap(line((row, Ink.INFO)), width, "  ")]
    return [*told, EMPTY, line(("C copies it; nothing here runs it.", Ink.DIM))]


def _lease(device: DeviceRow, look: Look) -> str:
    if not device.owner:
        return "nobody has it"
    waiting = f"; {device.waiting} wait" if device.waiting else ""
    how = "claimed it" if device.claimed else "calls it"
    return f"{device.owner} {how}, since {clock(device.owned_since, look)}{waiting}"


def _history(device: DeviceRow, width: int, look: Look) -> list[Line]:
    """How often it was plugged in, and what ended that."""
    told: list[Line] = [EMPTY] if device.history else []
    for one in device.history:
        ended = f" to {clock(one.until, look)}, {one.why}" if one.until else ", and is there"
        told += wrap(
            line((f"gen {one.generation:<4} ", Ink.DIM), f"plugged in {clock(one.since, look)}{ended}"), width, " " * 9
        )
    return told


def no_devices(sources: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Where it was looked, and what keeps it from being looked."""
    return [
        EMPTY,
        line(("No devices.", Ink.STRONG)),
        line("What is plugged in is listed here within a moment: its state, its bus, who has it, and why not."),
        *_sources(sources),
        EMPTY,
        line(("What this machine has, and may use: ", Ink.DIM), ("eva doctor", Ink.INFO)),
    ]


def _sources(sources: Iterable[Mapping[str, Any]]) -> Iterator[Line]:
    for source in sources:
        problem = str(source.get("problem") or "")
        said = (f"✗ {problem}", Ink.BAD) if problem else ("● looked", Ink.OK)
        yield line((f"{source.get('name')}: ", Ink.DIM), said)
