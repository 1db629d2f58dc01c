"""JSON with positions: the same tree as for YAML, so that a diagnostic can point into a schema file.

Strict RFC 8259: no comments, no trailing commas, no key twice. Bounds on depth and on the number of values.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.lines import line_starts
from evatui.kernel.workspace.yaml import Node, Place, Style, plain

__all__ = ["MAX_DEPTH", "MAX_NODES", "JsonDocument", "JsonProblem", "parse_json", "plain_json"]

MAX_DEPTH = 64
MAX_NODES = 20_000
_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None}
_WORD = re.compile("true|false|null")
_LONGEST_NUMBER = 400
_STRINGS = json.JSONDecoder()
_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonProblem(Exception):
    """``place`` is where it went wrong; ``too_large`` says that a bound was passed."""

    def __init__(self, message: str, place: Place, other: Place | None = None, *, too_large: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.other = other
        self.too_large = too_large


def parse_json(data: bytes, file: str) -> Node:
    """The value in ``data``. Raises `JsonProblem`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        reader = _Reader(before, file)
        message = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
        raise JsonProblem(message, reader.place(len(before), len(before) + 1)) from None
    reader = _Reader(text, file)
    node = reader.value(1)
    if reader.skip() < len(text):
        raise reader.problem("nothing may follow the value")
    return node


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """The bytes of a JSON file, what they say, and where. Raises `JsonProblem`."""

    data: bytes
    file: str
    tree: Node = field(init=False, repr=False, compare=False)
    value: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tree", parse_json(self.data, self.file))
        object.__setattr__(self, "value", plain(self.tree))


class _Doubtful(Exception):
    """Perhaps wrong, perhaps only unusual: the reader with positions decides."""


def plain_json(data: bytes, file: str) -> Any:
    """The same value without positions, many times faster. Raises `JsonProblem`."""
    try:
        if len(data) > MAX_NODES or data.count(b"{") + data.count(b"[") > MAX_DEPTH or _ESCAPED_HALF.search(data):
            raise _Doubtful
        return _QUICK.decode(data.decode().removeprefix("\ufeff"))
    except (ValueError, RecursionError, _Doubtful):
        return plain(parse_json(data, file))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Doubtful
    return found


def _whole(text: str) -> int:
    if len(text) > _LONGEST_SURE:
        raise _Doubtful
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if abs(number) >= _LARGEST:
        raise _Doubtful
    return number


def _doubt(text: str) -> Any:
    raise _Doubtful


_ESCAPED_HALF = re.compile(rb"\\u[dD][89abcdefABCDEF]")
_LONGEST_SURE = 15
_LARGEST = 1e308
_QUICK = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_whole, parse_float=_finite, parse_constant=_doubt)


class _Reader:
    """Recursive descent; ``at`` is the offset of the next character."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._starts = line_starts(text)
        self._at = 0
        self._nodes = 0

    def value(self, depth: int) -> Node:
        start = self.skip()
        self._count(depth)
        char = self._text[start : start + 1]
        if char == "{":
            return self._object(start, depth)
        if char == "[":
            return self._array(start, depth)
        if char == '"':
            string = self._string("a value")
            return Node(string, self._file, self.place(start, self._at), Style.QUOTED, string)
        return self._bare(start)

    def skip(self) -> int:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at

    def place(self, start: int, end: int) -> Place:
        return Place(*self._position(start), *self._position(end))

    def problem(self, message: str, start: int | None = None, *, too_large: bool = False) -> JsonProblem:
        at = self._at if start is None else start
        if at >= len(self._text):
            at = max(0, len(self._text.rstrip()) - 1)
            message += ", but the file ends here"
        return JsonProblem(message, self.place(at, at + 1), too_large=too_large)

    def _object(self, start: int, depth: int) -> Node:
        self._at += 1
        value: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        while True:
            begin = self.skip()
            if not value and self._take("}"):
                break
            key = self._string("a key in double quotes" if not value else "another key in double quotes")
            where = self.place(begin, self._at)
            if key in keys:
                raise JsonProblem(f'the key "{clean_line(key, 80)}" is given twice', where, keys[key])
            self._need(":", "a colon")
            value[key], keys[key] = self.value(depth + 1), where
            if self._ends("}"):
                break
        return Node(value, self._file, self.place(start, self._at), keys=keys)

    def _array(self, start: int, depth: int) -> Node:
        self._at += 1
        value: list[Node] = []
        self.skip()
        if not self._take("]"):
            value.append(self.value(depth + 1))
            while not self._ends("]"):
                value.append(self.value(depth + 1))
        return Node(value, self._file, self.place(start, self._at))

    def _ends(self, closing: str) -> bool:
        self.skip()
        if self._take(closing):
            return True
        self._need(",", f"a comma or {closing}")
        return False

    def _string(self, wanted: str) -> str:
        start = self._at
        if self._text[start : start + 1] != '"':
            raise self.problem(f"expected {wanted}")
        string: str
        try:
            string, self._at = _STRINGS.raw_decode(self._text, start)
        except json.JSONDecodeError as error:
            message = error.msg.removesuffix(" at").removesuffix(" starting").lower()
            raise self.problem(message, min(error.pos, len(self._text))) from None
        if _SURROGATE.search(string):
            raise self.problem("half of a surrogate pair stands for no character", start)
        return string

    def _bare(self, start: int) -> Node:
        if match := _WORD.match(self._text, start):
            self._at = match.end()
            return Node(_WORDS[match[0]], self._file, self.place(start, self._at), Style.PLAIN, match[0])
        match = _NUMBER.match(self._text, start)
        if not match:
            raise self.problem("expected a value")
        self._at = match.end()
        return Node(self._number(match[0], start), self._file, self.place(start, self._at), Style.PLAIN, match[0])

    def _number(self, text: str, start: int) -> int | float:
        if len(text) <= _LONGEST_NUMBER:
            value: int | float = json.loads(text)
            if abs(value) < 2**63 or (isinstance(value, float) and abs(value) < 1e308):
                return value
        raise self.problem("the number is too large", start)

    def _need(self, char: str, wanted: str) -> None:
        self.skip()
        if not self._take(char):
            raise self.problem(f"expected {wanted}")

    def _take(self, char: str) -> bool:
        if not self._text.startswith(char, self._at):
            return False
        self._at += 1
        return True

    def _count(self, depth: int) -> None:
        self._nodes += 1
        if depth > MAX_DEPTH:
            raise self.problem(f"values are nested deeper than {MAX_DEPTH} levels", too_large=True)
        if self._nodes > MAX_NODES:
            raise self.problem(f"the schema holds more than {MAX_NODES:,} values", too_large=True)

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
