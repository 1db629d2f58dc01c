"""How programs spell a text that they were sent: escaped, as often as they like, in base64, or as numbers."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

__all__ = ["Spelling", "spellings"]

_WINDOW: Final = 8_192
"""Bytes to search at a time: a search keeps all threads of Python waiting."""

_AT_ONCE: Final = 32
_LONGEST: Final = 64
"""Bytes of one part, however it is spelt."""
_SHORTEST_PART: Final = 4
_BACKSLASH: Final = "\\"
_SLASHES: Final = r"\\{1,16}+"
_PERCENT: Final = "%(?:25){0,4}"
_AND: Final = "&(?:amp;){0,4}"
_LINE_END: Final = rf"(?:\s|{_SLASHES}[rnt]|{_PERCENT}(?:0[ad]|20)|{_AND}#(?:x0*[ad]|0*1[03]);){{0,20}}"
_BETWEEN_BYTES: Final = r"[\s:,;_.-]{0,8}(?:0x)?"
_BETWEEN_NUMBERS: Final = r"[\s,;]{1,8}"
_ENTITIES: Final = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}


class Spelling:
    """One way to spell a value, by a pattern for each of its parts, in lower-case bytes."""

    def __init__(self, parts: Iterable[str]) -> None:
        first = tuple(parts)
        self._head = re.compile("".join(first[:_AT_ONCE]).encode())
        self._rest = first[_AT_ONCE:]

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Where ``data`` holds the value so spelt."""
        at = 0
        while found := self._begun(data, at):
            end = self._ended(data, found.end())
            if end is None:
                at = found.start() + 1
            else:
                yield self._escaped_from(data, found.start()), end
                at = end

    def _begun(self, data: bytes, at: int) -> re.Match[bytes] | None:
        for start in range(at, len(data), _WINDOW):
            if found := self._head.search(data, start, start + _WINDOW + _AT_ONCE * _LONGEST):
                return found
        return None

    def _escaped_from(self, data: bytes, start: int) -> int:
        """Where the escape begins that the first sign may be a part of."""
        found = _ESCAPES_BEFORE.search(data, max(0, start - _LONGEST), start)
        return found.start() if found else start

    def _ended(self, data: bytes, at: int) -> int | None:
        for part in self._rest:
            found = _compiled(part).match(data, at)
            if found is None:
                return None
            at = found.end()
        return at


@lru_cache(maxsize=2_048)
def _compiled(part: str) -> re.Pattern[bytes]:
    return re.compile(part.encode())


def spellings(value: str) -> Iterator[Spelling]:
    """Of printable ASCII."""
    data = value.encode()
    yield Spelling(_signs(value))
    yield Spelling(_followed(map("{:02x}".format, data), _BETWEEN_BYTES))
    yield Spelling(_numbers(data))
    for part in _in_base64(data):
        yield Spelling(_followed(map(_letter, part.lower()), _LINE_END))


def _followed(parts: Iterable[str], between: str) -> Iterator[str]:
    for index, part in enumerate(parts):
        yield f"{between}{part}" if index else part


def _numbers(data: bytes) -> Iterator[str]:
    """Decimal, as in a list."""
    for index, byte in enumerate(data):
        yield f"{_BETWEEN_NUMBERS if index else ''}{byte}(?![0-9])"


def _signs(value: str) -> Iterator[str]:
    """Each sign as it is, or as JSON, HTML, URLs and programming languages escape it, again and again.

    How many backslashes stand before a sign says how often it was escaped, so those of the value are not counted.
    """
    signs = value.replace("\\", "")
    for index, sign in enumerate(signs):
        named = f"{_NAMED if index else ''}(?:{_named(sign)})"
        way = f"(?:{named}|{_coded(sign)}|{_plain(sign)})"
        yield f"{_ESCAPE}{{0,8}}{way}" if index else way
    if value.endswith("\\"):
        yield f"{_ESCAPE}{{{0 if signs else 1},16}}"


def _plain(sign: str) -> str:
    return r" |\+" if sign == " " else re.escape(sign.lower())


def _named(sign: str) -> str:
    """What follows a backslash."""
    hexes = _hexes(sign)
    return rf"u(?:0000)?00(?:{hexes})|x(?:{hexes})|u\{{0{{0,4}}(?:{hexes})\}}"


def _coded(sign: str) -> str:
    """Each way begins with a certain byte: so a search need not try them where none of these stands."""
    hexes, codes = _hexes(sign), "|".join(str(ord(each)) for each in _cases(sign))
    ways = [
        f"{_PERCENT}(?:u00)?(?:{hexes})",
        f"{_AND}#(?:0{{0,8}}(?:{codes})|x0{{0,8}}(?:{hexes}));",
        f"=(?:{hexes})",
    ]
    if sign in _ENTITIES:
        ways.append(f"{_AND}{_ENTITIES[sign]};")
    return "|".join(ways)


def _hexes(sign: str) -> str:
    return "|".join(f"{ord(each):02x}" for each in _cases(sign))


def _cases(sign: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((sign.lower(), sign.upper())))


def _letter(letter: str) -> str:
    """One of base64, whichever alphabet that is of."""
    if letter not in "+/":
        return letter
    code, other = ("2b", "[+ -]") if letter == "+" else ("2f", "(?:/|_)")
    return rf"(?:{_SLASHES}(?:u00|x){code}|{_PERCENT}{code}|{_AND}#(?:0*{int(code, 16)}|x0*{code});|\\{{0,16}}{other})"


def _in_base64(data: bytes) -> Iterator[str]:
    """The parts of a longer text that do not depend on what stands around it, without padding; and all of it."""
    yield base64.b64encode(data).decode().rstrip("=")
    for before in range(3):
        whole = (before + len(data)) * 8 // 6  # letters that hold nothing of what comes after
        part = base64.b64encode(bytes(before) + data)[-(-before * 8 // 6) : whole].decode()
        if len(part) >= _SHORTEST_PART:
            yield part


_ESCAPE: Final = rf"(?:{_SLASHES}(?:{_named(_BACKSLASH)})?|{_coded(_BACKSLASH)})"
_NAMED: Final = r"(?:(?<=\\)|(?<=5c))"
_ESCAPES_BEFORE: Final = re.compile(rf"{_ESCAPE}{{1,8}}\Z".encode())
