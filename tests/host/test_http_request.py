"""What is sent to a server, and what comes back."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import pytest

from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.permissions import Permissions
from tests.host.ground import Ground
from tests.host.web import Received, Server, answer, get, network, refused, serving
from tests.support.waiting import until

DENIED = ErrorKind.POLICY_DENIED
INVALID = ErrorKind.INVALID_INPUT


async def test_a_request_is_sent_and_answered(lab: Ground, server: Server) -> None:
    server.say = lambda _: answer('{"é": 1}', "201 Created", X_Kind="a", x_kind="b", Set_Cookie="id=1")
    found = await get(
        lab,
        f"{server.url}/a?q=1#part",
        method="post",
        headers={"X-Mine": "yes", "Content-Type": "text/plain"},
        body="häh",
    )
    assert found["status"] == 201
    assert found["body"] == '{"é": 1}'
    assert found["headers"]["x-kind"] == "a, b"
    assert found["headers"]["set-cookie"] == "id=1"
    (got,) = server.received
    assert got.line == "POST /a?q=1 HTTP/1.1"
    assert got.body == "häh"
    assert got.headers["x-mine"] == "yes"
    assert got.headers["host"] == f"127.0.0.1:{server.port}"
    assert got.headers["content-length"] == "4"


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"Host": "other"}, DENIED),
        ({"content-length": "0"}, DENIED),
        ({"Transfer-Encoding": "chunked"}, DENIED),
        ({"Connection": "upgrade"}, DENIED),
        ({"Upgrade": "h2c"}, DENIED),
        ({"Proxy-Authorization": "x"}, DENIED),
        ({"X": "a\r\nHost: b"}, INVALID),
        ({"X": "a\nb"}, INVALID),
        ({"X\r\nY": "a"}, INVALID),
        ({"X ": "a"}, INVALID),
        ({"": "a"}, INVALID),
        ({"X": "é"}, INVALID),
        ({"X": "a", "x": "b"}, INVALID),
        ({"X": 1}, INVALID),
        ({"X": "a" * 40_000}, INVALID),
        ({f"X{n}": "" for n in range(65)}, INVALID),
    ],
)
async def test_headers_of_the_message_and_broken_ones_are_refused(
    lab: Ground, server: Server, headers: dict[str, Any], kind: ErrorKind
) -> None:
    assert (await refused(lab, server.url, headers=headers))[0] is kind
    assert server.connections == 0


async def test_a_body_has_a_limit_and_its_methods(lab: Ground, server: Server) -> None:
    assert (await refused(lab, server.url, method="POST", body="é" * 600_000))[0] is INVALID
    assert (await refused(lab, server.url, body="x"))[0] is INVALID
    assert server.connections == 0


async def test_a_redirect_on_the_same_host_is_followed(lab: Ground, server: Server) -> None:
    def say(got: Received) -> bytes:
        return answer("there") if "/b" in got.line else answer("", "303 See Other", Location="/b?x=1")

    server.say = say
    host = lab.bind()
    argument = {
        "url": f"{server.url}/a?key=k&%74oken=t",
        "method": "POST",
        "body": "x",
        "headers": {"Content-Type": "a/b"},
    }
    assert (await host("http_request", argument))["body"] == "there"
    assert server.received[1].line == "GET /b?x=1 HTTP/1.1"
    assert "content-type" not in server.received[1].headers
    sent = [f"POST {server.url}/a?key=k&%74oken=[redacted]", f"GET {server.url}/b?x=1"]
    assert host.calls[0]["target"] == " → ".join(sent)
    intents = [line for record in lab.audit.tail(9) for line in record["host_calls"]]
    assert [line["target"] for line in intents] == [sent[0], " → ".join(sent)]


async def test_a_redirect_elsewhere_is_an_answer(lab: Ground, server: Server) -> None:
    async with serving() as other:
        for location in (f"http://localhost:{other.port}/", "http://[::1", "ftp://127.0.0.1/", "//example.org/"):
            server.say = lambda _, location=location: answer("", "302 Found", Location=location)
            found = await get(lab, server.url)
            assert (found["status"], found["headers"]["location"]) == (302, location)
        assert other.connections == 0
    assert len(server.received) == 4


async def test_a_method_that_a_redirect_makes_is_granted_too(ground: Ground, server: Server) -> None:
    ground.permissions = network("127.0.0.1", methods=("POST",))
    server.say = lambda _: answer("", "302 Found", Location="/b")
    kind, _ = await refused(ground, server.url, method="POST")
    assert kind is DENIED
    assert len(server.received) == 1


async def test_redirects_end(lab: Ground, server: Server) -> None:
    server.say = lambda _: answer("", "307 Temporary Redirect", Location="/again")
    kind, message = await refused(lab, server.url)
    assert (kind, message) == (ErrorKind.HOST_ERROR, "127.0.0.1 redirects more than 5 times")
    assert len(server.received) == 6


async def test_a_grant_that_ends_meanwhile_ends_the_chain(lab: Ground, server: Server) -> None:
    def say(_: Received) -> bytes:
        lab.permissions = Permissions()
        return answer("", "302 Found", Location="/b")

    server.say = say
    assert (await refused(lab, server.url))[0] is DENIED
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (answer("x" * 4_194_305), ErrorKind.INPUT_TOO_LARGE),
        (answer(gzip.compress(b"x" * 5_000_000, 1), Content_Encoding="gzip"), ErrorKind.INPUT_TOO_LARGE),
        (answer(gzip.compress(b"x" * 1_000)[:-9], Content_Encoding="gzip"), ErrorKind.HOST_ERROR),
        (answer(gzip.compress(b"x") + b"more", Content_Encoding="gzip"), ErrorKind.HOST_ERROR),
        (answer(b"nonsense", Content_Encoding="gzip"), ErrorKind.HOST_ERROR),
        (answer(b"x", Content_Encoding="br"), ErrorKind.HOST_ERROR),
        (answer(b"\xff\xfe"), ErrorKind.HOST_ERROR),
        (answer("x", X="y" * 90_000), ErrorKind.INPUT_TOO_LARGE),
        (answer("x", X="y" * 200_000), ErrorKind.INPUT_TOO_LARGE),
        (answer("x", **{f"X{n}": "y" for n in range(200)}), ErrorKind.INPUT_TOO_LARGE),
        (b"SSH-2.0-OpenSSH\r\n\r\n", ErrorKind.HOST_ERROR),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", ErrorKind.HOST_ERROR),
        (b"", ErrorKind.HOST_ERROR),
    ],
    ids=[
        "long",
        "long-once-unpacked",
        "packed-and-cut",
        "packed-and-more",
        "not-packed",
        "packed-otherwise",
        "no-text",
        "long-header",
        "longer-header",
        "many-headers",
        "no-http",
        "shorter-than-it-says",
        "nothing",
    ],
)
async def test_an_answer_that_cannot_be_taken_is_an_error(
    lab: Ground, server: Server, reply: bytes, kind: ErrorKind
) -> None:
    server.say = lambda _: reply
    found, message = await refused(lab, server.url)
    assert found is kind, message


async def test_a_packed_answer_is_unpacked(lab: Ground, server: Server) -> None:
    server.say = lambda _: answer(gzip.compress("häh".encode()), Content_Encoding="gzip")
    assert (await get(lab, server.url))["body"] == "häh"


@pytest.mark.parametrize("drip", [b"", b"x"], ids=["no answer", "an answer without end"])
async def test_a_deadline_holds_and_the_connection_is_closed(lab: Ground, server: Server, drip: bytes) -> None:
    server.say, server.drip = None, drip
    kind, message = await refused(lab, server.url, timeout_ms=500)
    assert (kind, message) == (ErrorKind.TIMEOUT, "127.0.0.1 has not answered within 500 ms")
    await until(lambda: server.left)


async def test_nobody_there_is_unavailable(lab: Ground, server: Server) -> None:
    async with serving() as gone:
        port = gone.port
    with pytest.raises(CallFailed) as caught:
        await get(lab, f"http://127.0.0.1:{port}/")
    assert (caught.value.error.kind, caught.value.error.retryable) == (ErrorKind.UNAVAILABLE, True)
    lab.permissions = network("*")
    lab.names["nowhere.example"] = ()
    assert (await refused(lab, "http://nowhere.example/"))[0] is ErrorKind.UNAVAILABLE


async def test_a_cancelled_request_hangs_up(lab: Ground, server: Server) -> None:
    server.say = None
    task = asyncio.ensure_future(get(lab, server.url))
    await until(lambda: server.received)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: server.left)


async def test_a_health_check_asks_nobody(lab: Ground, server: Server) -> None:
    host = lab.bind(effects=False)
    with pytest.raises(CallFailed) as caught:
        await host("http_request", {"url": server.url})
    assert caught.value.error.kind is DENIED
    assert server.connections == 0
