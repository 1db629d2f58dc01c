"""Credentials: where they go, and that they never come back."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest

from evatui.kernel.model.errors import CallFailed, ErrorKind
from tests.host.ground import Ground
from tests.host.web import Server, answer, get, network, refused, serving

DENIED = ErrorKind.POLICY_DENIED
SECRET = "s3cr/t+value&more"


def spellings(secret: str) -> list[str]:
    data = secret.encode()
    return [
        secret,
        secret.upper(),
        base64.b64encode(data).decode(),
        base64.b64encode(b"user:" + data + b":x").decode(),
        base64.b64encode(b"ab" + data).decode(),
        base64.urlsafe_b64encode(data).decode().rstrip("="),
        json.dumps(base64.b64encode(data).decode()).replace("/", "\\/"),
        quote(secret, safe=""),
        quote(secret, safe="/").lower(),
        quote_plus(secret),
        "".join(f"%{byte:02X}" for byte in data),
        data.hex().upper(),
        secret.replace("/", "\\/"),
        secret.replace("&", "\\u0026").replace("+", "\\u002B"),
        html.escape(secret),
        json.dumps(json.dumps(quote(json.dumps(secret)))),
        "".join(f"\\u{ord(sign):04x}" for sign in secret),
        json.dumps("".join(f"\\u{ord(sign):04x}" for sign in secret)),
        quote(quote(secret, safe=""), safe=""),
        base64.encodebytes(data * 9).decode().replace("\n", "\\r\\n"),
        data.hex(":"),
        str(list(data)),
        secret.replace("+", "&#43;").replace("/", "&#x2F;"),
    ]


@pytest.mark.parametrize("secret", [SECRET, "hunter2", "Q~`'\"<x", "0123456789abcdef" * 9])
async def test_a_credential_is_sent_and_never_seen(lab: Ground, server: Server, secret: str) -> None:
    lab.environ["TOKEN"] = secret
    spelt = spellings(secret)
    server.say = lambda _: answer("\n".join(spelt), X_Echo=f"Bearer {secret}", **{"X_" + secret.encode().hex(): "x"})
    host = lab.bind()
    found = await host("http_request", {"url": f"{server.url}/?q", "credential": "TOKEN"})
    assert server.received[0].headers["authorization"] == f"Bearer {secret}"
    for line, spelling in zip(found["body"].split("\n"), spelt, strict=True):
        assert spelling not in line
        assert "[redacted]" in line
    assert found["headers"]["x-echo"] == "Bearer [redacted]"
    seen = str(found).lower()
    assert secret.encode().hex() not in seen
    assert secret not in seen
    assert secret not in str(host.calls) + str(lab.audit.tail(9))


async def test_a_credential_is_found_across_the_pieces_that_it_comes_in(lab: Ground, server: Server) -> None:
    packed = gzip.compress(f"<{SECRET}>".encode() * 3)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
    server.say = lambda _: head + b"".join(b"1\r\n%c\r\n" % byte for byte in packed) + b"0\r\n\r\n"
    assert (await get(lab, server.url, credential="TOKEN"))["body"] == "<[redacted]>" * 3


async def test_a_credential_is_not_in_errors_and_records_either(lab: Ground, server: Server) -> None:
    server.say = lambda _: answer("", Content_Encoding=SECRET)
    host = lab.bind()
    with pytest.raises(CallFailed, match=re.escape("packed as [redacted], which was not asked for")):
        await host("http_request", {"url": server.url, "credential": "TOKEN"})
    server.say = lambda got: answer("", "302 Found", Location=f"/{SECRET}") if "/ " in got.line else answer("there")
    found = await host("http_request", {"url": server.url, "credential": "TOKEN"})
    assert found["body"] == "there"
    assert host.calls[1]["target"] == f"GET {server.url}/ → GET {server.url}/[redacted]"
    assert SECRET not in str(host.calls) + str(lab.audit.tail(9))


async def test_a_credential_for_basic_hides_the_password(lab: Ground, server: Server) -> None:
    lab = lab
    lab.credentials["TOKEN"] = {"hosts": ["127.0.0.1"], "header": "Authorization", "prefix": "Basic "}
    lab.environ["TOKEN"] = base64.b64encode(b"ada:pass-word").decode()
    server.say = lambda _: answer("you are ada:pass-word, pass-word")
    found = await get(lab, server.url, credential="TOKEN")
    assert found["body"] == "you are [redacted], [redacted]"


async def test_a_credential_goes_only_where_the_policy_says(lab: Ground, server: Server) -> None:
    lab = lab
    for url, argument, message in [
        (f"http://localhost:{server.port}", {}, "the credential TOKEN does not go to localhost"),
        (server.url, {"headers": {"authorization": "x"}}, "the header Authorization is refused"),
        (server.url, {"credential": "OTHER"}, "the credential OTHER is not granted"),
    ]:
        kind, said = await refused(lab, url, **{"credential": "TOKEN", **argument})
        assert (kind, message in said) == (DENIED, True)
    lab.permissions = network("127.0.0.1", "api.example", env=("*",))
    assert (await refused(lab, server.url, credential="PATH"))[1] == "the policy defines no credential PATH"
    lab.credentials["TOKEN"]["hosts"] = ["api.example"]
    kind, said = await refused(lab, "http://api.example/", credential="TOKEN")
    assert (kind, said) == (DENIED, "the credential TOKEN goes by https only")
    assert server.connections == 0


@pytest.mark.parametrize("value", ["", "two\nlines", "é", " padded "])
async def test_a_credential_that_no_header_holds_is_not_sent(lab: Ground, server: Server, value: str) -> None:
    lab.environ["TOKEN"] = value
    kind, message = await refused(lab, server.url, credential="TOKEN")
    assert kind is ErrorKind.UNAVAILABLE
    assert not value or value not in message
    assert server.connections == 0


async def test_a_credential_does_not_move_to_another_port(lab: Ground, server: Server) -> None:
    async with serving() as other:
        other.say = lambda got: answer(f"{got.headers.get('authorization')}")
        server.say = lambda _: answer("", "307 Temporary Redirect", Location=f"{other.url}/")
        assert (await get(lab, server.url, credential="TOKEN"))["body"] == "None"
        own = {"headers": {"Authorization": "mine"}}
        assert (await get(lab, server.url, **own))["body"] == "None"
    assert server.received[0].headers["authorization"].startswith("Bearer ")
