"""The block ``hardware`` of an adapter manifest: which device it means, and how that is spoken to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from evatui.kernel.admission.records import Field, MapOf, Record
from evatui.kernel.admission.report import Fault, Pointer, Report
from evatui.kernel.admission.rules import Choice, Integer, Nullable, Text
from evatui.kernel.model.ids import CAPABILITY_NAME

__all__ = ["HARDWARE", "check_hardware"]

_LOGICAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", re.ASCII)
_HEX: Final = Text("four hexadecimal digits in quotes, such as '0403'", re.compile(r"[0-9a-fA-F]{4}"))
_SAID: Final = Text("text", longest=4_000, empty=True)
_SELF_SPEAKING: Final = "line_json"
_ADDRESS: Final = re.compile(
    r"(?:rfc2217|socket)://(?:[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\]):\d{1,5}", re.ASCII
)
_PLACE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}|", re.ASCII)
_PAIRS: Final = re.compile(r"(?:[0-9A-Fa-f]{2}|\{[A-Za-z_][A-Za-z0-9_]*\}| )+", re.ASCII)

_MATCH = Record(
    {
        "vendor_id": Field(Nullable(_HEX), "The vendor, or any.", None),
        "product_id": Field(Nullable(_HEX), "The product, or any.", None),
        "serial": Field(
            Text("a serial number", longest=120, empty=True),
            "The serial number; without one an operator says which device it is (eva hardware bind).",
            "",
        ),
        "path": Field(
            Text("a place such as 1-2.3, as eva hardware inspect shows it", _PLACE, empty=True),
            "Where it is plugged in, for a device without a number; names such as ttyUSB0 change.",
            "",
        ),
        "address": Field(
            Nullable(Text("an address such as rfc2217://host:port or socket://host:port", _ADDRESS)),
            "Of the bus remote: where the port is.",
            None,
        ),
        "service_uuid": Field(
            Nullable(Text("a UUID", longest=64)), "Of Bluetooth devices, which have no bus yet.", None
        ),
    }
)
_IDENTITY = Record(
    {
        "device_class": Field(Text("a word", longest=64, empty=True), "What kind of device it is, for people.", ""),
        "logical_name": Field(
            Text("a name such as scale.main", _LOGICAL), "The name under which capabilities know it.", required=True
        ),
    }
)
_HANDSHAKE = Record(
    {
        "send": Field(_SAID, "What it is asked.", required=True),
        "expect": Field(Text("text"), "How its answer begins.", required=True),
    }
)
_PROTOCOL = Record(
    {
        "kind": Field(
            Choice(("line_json", "line_text", "fixed", "delimiter", "length_prefixed", "hid_report")),
            "What a message is.",
            "line_json",
        ),
        "commands": Field(
            MapOf(CAPABILITY_NAME, "a capability name", Text("a command")),
            "What is sent for a capability; {key} stands for a word of the payload, or for a byte of a hid_report.",
            {},
        ),
        "terminator": Field(Choice(("\n", "\r", "\r\n")), "What ends a line that is sent; any of them is read.", "\n"),
        "delimiter": Field(Text("what stands between messages", longest=16), "Of the kind delimiter.", "\n"),
        "frame_bytes": Field(Integer(1, 65_536), "The size of a message of the kind fixed.", 1),
        "length_bytes": Field(Integer(1, 4), "The size of the number before a message of the kind length_prefixed.", 1),
        "max_frame_bytes": Field(Integer(1, 65_536), "The longest message.", 4_096),
        "handshake": Field(Nullable(_HANDSHAKE), "How it is asked who it is, once it was opened.", None),
        "handshake_timeout_ms": Field(Integer(1, 10_000), "How long it may take to say so.", 2_000),
        "baud_rate": Field(Integer(1, 12_000_000), "Bits a second.", 9_600),
        "data_bits": Field(Integer(5, 8), "Bits of a character.", 8),
        "parity": Field(Choice(("none", "even", "odd")), "The parity bit.", "none"),
        "stop_bits": Field(Integer(1, 2), "Stop bits.", 1),
        "dtr_on_open": Field(
            Choice(("keep", "on", "off")), "The line DTR when it is opened: many a board is reset by it.", "keep"
        ),
        "rts_on_open": Field(Choice(("keep", "on", "off")), "The line RTS when it is opened.", "keep"),
        "report_id": Field(Integer(0, 255), "The number of the report that is sent; 0 where it has none.", 0),
        "report_type": Field(
            Choice(("output", "feature")),
            "Of a hid_report: output is written and answered by an input report; feature is set, and then read back.",
            "output",
        ),
        "settle_ms": Field(
            Integer(0, 10_000), "How long it is left alone once it is open: a board that opening resets is deaf.", 0
        ),
        "answer_report_id": Field(
            Nullable(Integer(0, 255)), "That of the one that answers; the same by default.", None
        ),
    }
)
_HOTPLUG = Record(
    {
        "claim": Field(Choice(("exclusive",)), "How many may have it at a time: one.", "exclusive"),
        "reconnect_backoff_ms": Field(
            Integer(10, 5_000), "After a failed opening; it doubles each time, up to 5 s.", 250
        ),
        "max_reconnect_attempts": Field(
            Nullable(Integer(1, 1_000)), "Then it is left alone until it is plugged in anew, or rescan.", None
        ),
    }
)
_DRIVER = Record(
    {
        "kind": Field(
            Choice(("auto", "hidraw", "hid")),
            "The library that opens a HID device; hid takes it from the system's own drivers.",
            "auto",
        ),
    }
)
HARDWARE = Record(
    {
        "bus": Field(Choice(("serial", "hid", "remote", "sim")), "Where it is plugged in.", required=True),
        "match": Field(_MATCH, "Which device it is."),
        "identity": Field(_IDENTITY, "What it is called.", required=True),
        "protocol": Field(_PROTOCOL, "How it is spoken to."),
        "hotplug": Field(_HOTPLUG, "What happens when it cannot be opened."),
        "driver": Field(_DRIVER, "What opens it."),
    }
)


def check_hardware(raw: Mapping[str, Any], report: Report) -> None:
    """What the parts of the block ask of each other, and of the rest of the manifest."""
    block = raw["hardware"]
    if not isinstance(block, Mapping) or report.failed:
        return
    protocol = block["protocol"]
    if protocol["kind"] != _SELF_SPEAKING:
        for name in raw["capabilities"]:
            if name not in protocol["commands"]:
                message = f"protocol.commands does not say what is sent for {name}"
                report.fault(Fault.MISSING, message, ("hardware", "protocol"))
    _check_match(block["bus"], block["match"], report)
    _check_kind(block, protocol, report)


def _check_match(bus: str, match: Mapping[str, Any], report: Report) -> None:
    at: Pointer = ("hardware", "match")
    if match["service_uuid"]:
        report.fault(Fault.FORM, "service_uuid is of Bluetooth, and no bus of this version is that", at)
    if bus == "remote" and not match["address"]:
        report.fault(Fault.MISSING, "match.address must say where a device of the bus remote is", at)
    if bus != "remote" and match["address"]:
        report.fault(Fault.MISPLACED, f"match.address is of the bus remote, not of {bus}", at)
    if bus == "remote" and any(match[name] for name in ("vendor_id", "product_id", "serial", "path")):
        report.fault(Fault.MISPLACED, "a device of the bus remote is known by its address, and by nothing else", at)


def _check_kind(block: Mapping[str, Any], protocol: Mapping[str, Any], report: Report) -> None:
    bus, at = block["bus"], ("hardware", "protocol")
    reports = protocol["kind"] == "hid_report"
    if bus != "sim" and reports is not (bus == "hid"):
        report.fault(Fault.FORM, f"protocol.kind {protocol['kind']} is not for the bus {bus}: hid has hid_report", at)
    if block["driver"]["kind"] != "auto" and bus != "hid":
        report.fault(Fault.MISPLACED, f"driver.kind is of the bus hid, not of {bus}", ("hardware", "driver"))
    greeting = protocol["handshake"] or {}
    told = (*protocol["commands"].values(), *greeting.values())
    if not reports:
        _check_lengths(protocol, told, report)
        return
    for said in told:
        if not _PAIRS.fullmatch(said):
            report.fault(Fault.FORM, "what a hid_report says is hexadecimal digits in pairs, and {key} for a byte", at)
    if any("{" in said for said in greeting.values()):
        report.fault(Fault.FORM, "a handshake has no payload to take {key} from", at)


def _check_lengths(protocol: Mapping[str, Any], told: Iterable[str], report: Report) -> None:
    most = protocol["max_frame_bytes"]
    if protocol["kind"] == "length_prefixed":
        most = min(most, 256 ** protocol["length_bytes"] - 1)
    if any(len(said.encode()) > most for said in told):
        message = f"what is said has more than the {most} bytes that a message may have"
        report.fault(Fault.FORM, message, ("hardware", "protocol"))
