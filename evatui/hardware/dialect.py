"""How a device is spoken to, as its adapter's manifest says: what is sent for a capability, and what is an answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from evatui.hardware.framing import Delimited, Fixed, Framer, LengthPrefixed, Lines, Whole
from evatui.hardware.hotplug import Hotplug
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean

__all__ = ["PLAIN", "Dialect", "Line"]

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_WORD: Final = re.compile(r"[A-Za-z0-9_.+-]{1,64}", re.ASCII)
_MAX_TEXT: Final = 4_096
_LEVELS: Final = {"on": True, "off": False, "keep": None}


@dataclass(frozen=True, slots=True)
class Line:
    """How the port is set; ``dtr`` and ``rts`` are None where they are left as the system has them when it opens a
    port. ``driver`` is the library that opens a HID device, where it is to be another one than looks for them."""

    baud_rate: int = 9_600
    data_bits: int = 8
    parity: str = "none"
    stop_bits: int = 1
    dtr: bool | None = None
    rts: bool | None = None
    driver: str = "auto"
    feature: int | None = None
    """Of a HID device that is set by feature reports: the number of the one that is read as the answer."""
    settle_s: float = 0.0
    """So long it is left alone once it is open: a board that opening resets is deaf until it is up."""


class Dialect:
    """``block`` is the ``protocol`` of a manifest; ``driver`` and ``hotplug`` are what it says besides."""

    def __init__(self, block: Mapping[str, Any], driver: str = "auto", hotplug: Hotplug | None = None) -> None:
        self._block = block
        self.hotplug = hotplug or Hotplug()
        self._kind = str(block["kind"])
        self._commands: Mapping[str, str] = block["commands"]
        self._ending = str(block["terminator"]).encode()
        self._limit = int(block["max_frame_bytes"])
        self._size = int(block["frame_bytes"])
        self._prefix = int(block["length_bytes"])
        self._longest = min(self._limit, 256**self._prefix - 1) if self._kind == "length_prefixed" else self._limit
        self._delimiter = str(block["delimiter"]).encode()
        self._report = int(block["report_id"])
        answers = block["answer_report_id"]
        self._answers = self._report if answers is None else int(answers)
        self.line = Line(
            block["baud_rate"],
            block["data_bits"],
            block["parity"],
            block["stop_bits"],
            _LEVELS[block["dtr_on_open"]],
            _LEVELS[block["rts_on_open"]],
            driver,
            self._answers if block["report_type"] == "feature" else None,
            block["settle_ms"] / 1000,
        )
        self.handshake: tuple[bytes, bytes] | None = None
        """What is sent, and how the answer begins."""
        if block["handshake"] is not None:
            said, expected = block["handshake"]["send"], block["handshake"]["expect"]
            if self.packets:
                self.handshake = (self._framed(_bytes(said, {})), bytes([self._answers]) + _bytes(expected, {}))
            else:
                self.handshake = (self._framed(said.encode()), expected.encode())
        self.handshake_s = block["handshake_timeout_ms"] / 1000

    def is_same(self, other: Dialect) -> bool:
        """Then what is open need not be opened anew."""
        return self._block == other._block and self.line == other.line

    @property
    def numbers_answers(self) -> bool:
        """Does an answer say which request it is for? Then a late one is known as such."""
        return self._kind == "line_json"

    @property
    def packets(self) -> bool:
        """Is it spoken in whole reports, as HID devices are?"""
        return self._kind == "hid_report"

    def framer(self) -> Framer:
        match self._kind:
            case "hid_report":
                return Whole()
            case "fixed":
                return Fixed(self._size)
            case "delimiter":
                return Delimited(self._delimiter, self._limit)
            case "length_prefixed":
                return LengthPrefixed(self._prefix, self._limit)
        return Lines(self._limit)

    def request(self, capability: str, payload: Mapping[str, Any], number: int) -> bytes:
        """What is sent. Raises `Trouble` ``InvalidInput`` where the payload does not fit into the command, and
        ``InputTooLarge`` where that does not fit into a message."""
        said = self._said(capability, payload, number)
        if len(said) > self._longest:
            message = f"the command would have {len(said)} bytes, and a message of the device at most {self._longest}"
            raise Trouble(ErrorKind.INPUT_TOO_LARGE, message)
        return self._framed(said)

    def _said(self, capability: str, payload: Mapping[str, Any], number: int) -> bytes:
        if self._kind == "line_json":
            said = {**payload, "seq": number, "command": self._commands.get(capability, capability)}
            return json.dumps(said, separators=(",", ":")).encode()
        template = self._commands.get(capability)
        if template is None:
            raise Trouble(ErrorKind.NOT_FOUND, f"its manifest has no command for {capability}")
        if self.packets:
            return _bytes(template, payload)
        return _PLACEHOLDER.sub(lambda found: _word(payload, found[1]), template).encode()

    def answer(self, frame: bytes, number: int) -> Any:
        """What ``frame`` says; None where it answers an earlier request. Raises `Trouble`."""
        if self._kind == "line_json":
            return _json(frame, number)
        if self._kind == "line_text":
            return {"text": _text(frame)}
        if self.packets:
            return {"report_id": frame[0], "hex": frame[1:].hex()} if frame[0] == self._answers else None
        return {"hex": frame.hex()}

    def _framed(self, said: bytes) -> bytes:
        match self._kind:
            case "hid_report":
                return bytes([self._report]) + said
            case "fixed":
                return said
            case "delimiter":
                return said + self._delimiter
            case "length_prefixed":
                return len(said).to_bytes(self._prefix, "big") + said
        return said + self._ending


def _bytes(template: str, payload: Mapping[str, Any]) -> bytes:
    """Of hexadecimal digits in pairs, and ``{key}`` for a byte of the payload."""
    return bytes.fromhex(_PLACEHOLDER.sub(lambda found: f"{_byte(payload, found[1]):02x}", template))


def _byte(payload: Mapping[str, Any], name: str) -> int:
    value = payload.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 255:
        raise Trouble(ErrorKind.INVALID_INPUT, f"{name} must be a whole number from 0 to 255")
    return value


def _word(payload: Mapping[str, Any], name: str) -> str:
    """Nothing that a caller gives may end the command and begin another."""
    value = payload.get(name)
    if isinstance(value, bool) or not isinstance(value, int | str) or not _WORD.fullmatch(str(value)):
        said = f"{name} must be a whole number, or 1 to 64 characters of A-Z a-z 0-9 _ . + -"
        raise Trouble(ErrorKind.INVALID_INPUT, said)
    return str(value)


def _json(frame: bytes, number: int) -> Any:
    try:
        said = json.loads(frame, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise Trouble(ErrorKind.DEVICE_PROTOCOL_ERROR, "the device said something that is no JSON object", sent=True)
    return {key: value for key, value in said.items() if key != "seq"} if said.get("seq") == number else None


def _finite(said: str) -> float:
    """No JSON has a number that is none, or larger than all: whatever writes such, others do not read."""
    number = float(said)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number


def _text(frame: bytes) -> str:
    try:
        return clean(frame.decode(), _MAX_TEXT)
    except UnicodeDecodeError:
        message = "the device said something that is no text"
        raise Trouble(ErrorKind.DEVICE_PROTOCOL_ERROR, message, sent=True) from None


PLAIN: Final = Dialect(
    {
        "kind": "line_text",
        "commands": {},
        "terminator": "\n",
        "max_frame_bytes": 4_096,
        "frame_bytes": 1,
        "length_bytes": 1,
        "delimiter": "\n",
        "baud_rate": 9_600,
        "data_bits": 8,
        "parity": "none",
        "stop_bits": 1,
        "dtr_on_open": "keep",
        "rts_on_open": "keep",
        "report_id": 0,
        "answer_report_id": None,
        "report_type": "output",
        "settle_ms": 0,
        "handshake": None,
        "handshake_timeout_ms": 2_000,
    }
)
"""Of a device that no manifest describes: it is opened, and nothing is said to it."""
