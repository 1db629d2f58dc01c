"""Messages come in pieces of any size, and are the same messages."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.hardware.framing import Delimited, Fixed, Framer, FrameTooLarge, LengthPrefixed, Lines

LINES = st.lists(st.binary(min_size=1, max_size=20).filter(lambda line: not {10, 13} & {*line}), max_size=5)
FRAMERS: dict[str, tuple[Callable[[], Framer], Callable[[bytes], bytes]]] = {
    "lf": (lambda: Lines(64), lambda line: line + b"\n"),
    "cr": (lambda: Lines(64), lambda line: line + b"\r"),
    "crlf": (lambda: Lines(64), lambda line: line + b"\r\n"),
    "delimiter": (lambda: Delimited(b"\r\n", 64), lambda line: line + b"\r\n"),
    "length": (lambda: LengthPrefixed(2, 64), lambda line: len(line).to_bytes(2, "big") + line),
}


@pytest.mark.parametrize("kind", FRAMERS)
@settings(max_examples=25)
@given(lines=LINES, cuts=st.lists(st.integers(0, 120), max_size=6))
def test_however_the_bytes_are_cut_the_messages_are_the_same(kind: str, lines: list[bytes], cuts: list[int]) -> None:
    make, framed = FRAMERS[kind]
    framer, sent = make(), b"".join(map(framed, lines))
    places = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
    pieces = [sent[start:end] for start, end in pairwise(places)]
    assert [frame for piece in pieces for frame in framer.feed(piece)] == lines


@given(st.binary(max_size=60), st.integers(1, 7))
def test_messages_of_a_fixed_size_need_no_end(sent: bytes, size: int) -> None:
    framer = Fixed(size)
    frames = [frame for byte in sent for frame in framer.feed(bytes([byte]))]
    assert b"".join(frames) == sent[: len(sent) - len(sent) % size]
    assert {len(frame) for frame in frames} <= {size}


@pytest.mark.parametrize(
    ("framer", "sound"), [(Lines(8), b"ok\n"), (Delimited(b";", 8), b"ok;"), (LengthPrefixed(1, 8), b"\x02ok")]
)
def test_a_device_that_never_ends_fills_nobodys_memory(framer: Framer, sound: bytes) -> None:
    with pytest.raises(FrameTooLarge):
        framer.feed(b"\x09" + b"x" * 9)
    assert framer.feed(sound) == [b"ok"]
