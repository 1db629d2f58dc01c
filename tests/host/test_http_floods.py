"""A granted server that sends without measure: the loop goes on turning, and the answer ends in a named error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import h11
import pytest

from evatui.kernel.model.errors import ErrorKind
from tests.host.ground import Ground
from tests.host.web import Server, get, refused

MOST_AT_ONCE = 400
"""Parts of an answer that may be taken in between two turns of the loop."""

LINES = "the answer has more than 1,024 lines of headers"
BESIDE = "the answer has more than 65,536 bytes, and most of them are not its body"
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@asynccontextmanager
async def counted(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[int]]:
    """How many parts of answers were taken in, by turn of the loop; ended when nobody asks any more."""
    turns, following = [0], h11.Connection.next_event

    def next_event(connection: h11.Connection) -> Any:
        turns[-1] += 1
        return following(connection)

    async def turn() -> None:
        while True:
            await asyncio.sleep(0)
            turns.append(0)

    monkeypatch.setattr(h11.Connection, "next_event", next_event)
    turning = asyncio.create_task(turn())
    try:
        yield turns
    finally:
        turning.cancel()


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (b"HTTP/1.1 100\r\n\r\n" * 20_000, LINES),
        (OK + b"a:\r\n" * 50_000, LINES),
        (CHUNKED + b"1\r\nx\r\n" * 50_000, BESIDE),
        (CHUNKED + b"1;%b\r\nx\r\n" % (b"y" * 900) * 1_000, BESIDE),
        (CHUNKED + b"1\r\nx\r\n0\r\n" + b"a:\r\n" * 50_000, LINES),
    ],
    ids=["notices", "headers", "chunks", "extensions", "trailers"],
)
async def test_a_flood_is_cut_off_while_the_loop_turns(
    lab: Ground, server: Server, monkeypatch: pytest.MonkeyPatch, reply: bytes, message: str
) -> None:
    server.say = lambda _: reply
    async with counted(monkeypatch) as turns:
        kind, said = await refused(lab, server.url)
    assert max(turns) <= MOST_AT_ONCE
    assert (kind, said) == (ErrorKind.INPUT_TOO_LARGE, message)


async def test_a_large_answer_is_taken_in_while_the_loop_turns(
    lab: Ground, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "a line\n" * 150_000
    server.say = lambda _: (
        CHUNKED
        + b"".join(
            b"%x\r\n%b\r\n" % (len(part), part)
            for part in (lines[at : at + 100].encode() for at in range(0, 3_150_000, 100))
        )
        + b"0\r\n\r\n"
    )
    async with counted(monkeypatch) as turns:
        assert (await get(lab, server.url))["body"] == lines
    assert max(turns) <= MOST_AT_ONCE
