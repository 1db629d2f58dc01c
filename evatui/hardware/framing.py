"""Where a message begins and ends in a stream of bytes that comes in pieces. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Delimited", "Fixed", "FrameTooLarge", "Framer", "LengthPrefixed", "Lines", "Whole"]


class FrameTooLarge(Exception):
    """The device has sent more without an end than a message may have; what there was of it is dropped."""


class Framer(Protocol):
    def feed(self, data: bytes) -> list[bytes]:
        """The messages that ``data`` completes, without what sets them apart. Raises `FrameTooLarge`."""
        ...


@dataclass(slots=True)
class Lines:
    """CR, LF and CRLF end a line, also where a piece ends between the two; empty lines are none."""

    limit: int
    _rest: bytes = b""

    def feed(self, data: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + data).replace(b"\r", b"\n").split(b"\n")
        return _within(self, [line for line in lines if line])


@dataclass(slots=True)
class Delimited:
    delimiter: bytes
    limit: int
    _rest: bytes = b""

    def feed(self, data: bytes) -> list[bytes]:
        *frames, self._rest = (self._rest + data).split(self.delimiter)
        return _within(self, frames)


@dataclass(slots=True)
class Fixed:
    size: int
    _rest: bytes = b""

    def feed(self, data: bytes) -> list[bytes]:
        whole = self._rest + data
        end = len(whole) - len(whole) % self.size
        self._rest = whole[end:]
        return [whole[start : start + self.size] for start in range(0, end, self.size)]


@dataclass(slots=True)
class LengthPrefixed:
    """A number of ``width`` bytes, the highest first, says how many follow."""

    width: int
    limit: int
    _rest: bytes = field(default=b"")

    def feed(self, data: bytes) -> list[bytes]:
        self._rest += data
        frames: list[bytes] = []
        while len(self._rest) >= self.width:
            size = int.from_bytes(self._rest[: self.width], "big")
            if size > self.limit:
                self._rest = b""
                raise FrameTooLarge
            if len(self._rest) < self.width + size:
                break
            frames.append(self._rest[self.width : self.width + size])
            self._rest = self._rest[self.width + size :]
        return frames


@dataclass(slots=True)
class Whole:
    """Each piece is a message: a HID device sends nothing else."""

    def feed(self, data: bytes) -> list[bytes]:
        return [data] if data else []


def _within(framer: Lines | Delimited, frames: list[bytes]) -> list[bytes]:
    if len(framer._rest) > framer.limit or any(len(frame) > framer.limit for frame in frames):
        framer._rest = b""
        raise FrameTooLarge
    return frames
