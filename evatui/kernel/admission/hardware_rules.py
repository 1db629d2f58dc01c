"""The block ``hardware`` of an adapter manifest: which device it means, and how that is spoken to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evatui.kernel.admission.records import Field, MapOf, Record
from evatui.kernel.admission.rules import Choice, Integer, Nullable, Text
from evatui.kernel.model.ids import CAPABILITY_NAME

__all__ = ["HARDWARE", "without_command"]

_LOGICAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", re.ASCII)
_HEX: Final = Text("four hexadecimal digits in quotes, such as '0403'", re.compile(r"[0-9a-fA-F]{4}"))
_SAID: Final = Text("text", longest=4_000, empty=True)
_SELF_SPEAKING: Final = "line_json"

_MATCH = Record(
    {
        "vendor_id": Field(Nullable(_HEX), "The vendor, or any.", None),
        "product_id": Field(Nullable(_HEX), "The product, or any.", None),
        "serial": Field(
            Text("a serial number", longest=120, empty=True),
            "The serial number; without one an operator says which device it is (eva hardware bind).",
            "",
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
            Choice(("line_json", "line_text", "fixed", "delimiter", "length_prefixed")),
            "What a message is.",
            "line_json",
        ),
        "commands": Field(
            MapOf(CAPABILITY_NAME, "a capability name", Text("a command")),
            "What is sent for a capability; {key} stands for a word of the payload.",
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
    }
)
HARDWARE = Record(
    {
        "bus": Field(Choice(("serial", "sim")), "Where it is plugged in.", required=True),
        "match": Field(_MATCH, "Which device it is."),
        "identity": Field(_IDENTITY, "What it is called.", required=True),
        "protocol": Field(_PROTOCOL, "How it is spoken to."),
    }
)


def without_command(raw: Mapping[str, Any]) -> Iterator[str]:
    """The capabilities of a manifest for which it does not say what is sent, where it must."""
    block = raw["hardware"]
    if isinstance(block, Mapping) and block["protocol"]["kind"] != _SELF_SPEAKING:
        yield from (name for name in raw["capabilities"] if name not in block["protocol"]["commands"])
