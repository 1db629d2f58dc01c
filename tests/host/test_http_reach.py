"""Whom a handler reaches over the network: hosts, addresses, certificates."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme

from evatui.adapters.http import Http
from evatui.kernel.host.ports import Exchange
from evatui.kernel.host.urls import parse_url
from evatui.kernel.model.address import Reach
from evatui.kernel.model.errors import ErrorKind
from tests.host.ground import Ground
from tests.host.web import Received, Server, answer, get, network, refused, serving

DENIED = ErrorKind.POLICY_DENIED
INVALID = ErrorKind.INVALID_INPUT


@pytest.mark.parametrize(
    ("granted", "host"),
    [
        ((), "127.0.0.1"),
        (("*",), "127.0.0.1"),
        (("*",), "localhost"),
        (("*", "*.localhost"), "a.localhost"),
        (("*.0.0.1", "*"), "127.0.0.1"),
        (("localhost",), "127.0.0.1"),
        (("127.0.0.1",), "127.0.0.2"),
        (("127.0.0.1", "*"), "[::1]"),
        (("127.0.0.1", "*"), "[::ffff:127.0.0.1]"),
        (("*",), "10.0.0.1"),
        (("example.org",), "www.example.org"),
        (("*.example.org",), "example.org"),
    ],
)
async def test_this_machine_is_reached_only_by_the_name_that_is_granted(
    ground: Ground, server: Server, granted: tuple[str, ...], host: str
) -> None:
    ground.permissions = network(*granted)
    kind, message = await refused(ground, f"http://{host}:{server.port}/")
    assert kind is DENIED
    assert "network.hosts does not cover it" in message
    assert server.connections == 0


@pytest.mark.parametrize("host", ["169.254.169.254", "0.0.0.0", "224.0.0.1", "100.64.0.1", "255.255.255.255"])
async def test_some_addresses_are_refused_even_where_they_are_granted(ground: Ground, host: str) -> None:
    ground.permissions = network(host)
    assert await refused(ground, f"http://{host}/") == (DENIED, f"{host} is refused, whatever the grant")


@pytest.mark.parametrize(
    "addresses",
    [
        ("127.0.0.1",),
        ("93.184.216.34", "127.0.0.1"),
        ("10.1.2.3",),
        ("169.254.169.254",),
        ("::1",),
        ("fd00::1",),
        ("fe80::1%1",),
        ("::ffff:127.0.0.1",),
        ("64:ff9b::7f00:1",),
        ("2002:7f00:1::",),
    ],
)
async def test_a_name_that_leads_inside_is_not_dialled(
    ground: Ground, server: Server, addresses: tuple[str, ...]
) -> None:
    ground.names["rebinding.example"] = addresses
    ground.permissions = network("*", "rebinding.example")
    kind, message = await refused(ground, f"http://rebinding.example:{server.port}/")
    assert kind is DENIED
    assert "it has an address that is not public" in message
    assert server.connections == 0


async def test_localhost_must_lead_to_this_machine(ground: Ground, server: Server) -> None:
    ground.permissions = network("localhost")
    ground.names["localhost"] = ("127.0.0.1",)
    assert (await get(ground, f"http://LOCALHOST.:{server.port}/"))["body"] == "hello"
    assert server.received[0].headers["host"] == f"localhost:{server.port}"
    ground.names["localhost"] = ("93.184.216.34",)
    assert (await refused(ground, f"http://localhost:{server.port}/"))[0] is DENIED


async def test_a_name_is_looked_up_once_and_its_addresses_are_tried_in_turn(ground: Ground, server: Server) -> None:
    ground.permissions = network("localhost", "LOCALHOST")
    ground.names["localhost"] = ("127.0.0.9", "127.0.0.8", "127.0.0.1")
    assert (await get(ground, f"http://localhost:{server.port}/"))["body"] == "hello"
    assert ground.looked_up == ["localhost"]


async def test_a_name_that_leads_elsewhere_the_second_time_is_not_asked_twice(ground: Ground, server: Server) -> None:
    def say(got: Received) -> bytes:
        ground.names["localhost"] = ("10.0.0.1",)
        return answer("", "302 Found", Location="/b")

    ground.permissions = network("localhost")
    ground.names["localhost"] = ("127.0.0.1",)
    server.say = say
    kind, message = await refused(ground, f"http://localhost:{server.port}/")
    assert (kind, message) == (DENIED, "localhost is refused: it has an address that is not loopback")
    assert (ground.looked_up, len(server.received)) == (["localhost", "localhost"], 1)


async def test_the_system_is_asked_where_nobody_else_is(server: Server) -> None:
    exchange = Exchange("GET", parse_url(f"http://localhost:{server.port}/"), (), b"", Reach.LOOPBACK, 99)
    assert (await Http().send(exchange)).body == b"hello"


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.0x1/",
        "http://[fe80::1%25lo]/",
        "http://[v1.a]/",
        "http://127.0.0.1@example.org/",
        "http://user:pass@127.0.0.1/",
        "http://127.0.0.1\\@example.org/",
        "http://127.0.0.1%2f@example.org/",
        "http://exam ple.org/",
        "http://127.0.0.1/\r\nX: y",
        "http://[127.0.0.1]/",
        "http://[::1]x/",
        "http://１２７.０.０.１/",
        "http://127.0.0.1。/",
        "http://a..b/",
        "http://-a.example/",
        "http:///path",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:65536/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "//127.0.0.1/",
        "127.0.0.1/",
        "http://127.0.0.1/" + "x" * 9_000,
    ],
)
async def test_a_url_that_can_be_read_in_two_ways_is_refused(lab: Ground, url: str) -> None:
    lab.permissions = network("*", "127.0.0.1")
    assert (await refused(lab, url))[0] is INVALID


@pytest.mark.parametrize("url", ["http://127.0.0.1.:{port}/", "HTTP://127.0.0.1:{port}"])
async def test_other_spellings_of_a_granted_host_are_that_host(lab: Ground, server: Server, url: str) -> None:
    assert (await get(lab, url.format(port=server.port)))["status"] == 200
    assert server.received[0].headers["host"] == f"127.0.0.1:{server.port}"


async def test_a_certificate_is_for_the_name_and_from_who_is_trusted(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    ground.permissions = network("localhost")
    ground.names["localhost"] = ("127.0.0.1",)

    asked_for: list[str] = []

    def serve(issuer: trustme.CA, name: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.sni_callback = lambda _, name, __: asked_for.append(name)
        issuer.issue_cert(name).configure_cert(context)
        return context

    async with serving(serve(authority, "localhost")) as server:
        found = await get(ground, f"https://localhost:{server.port}/")
        assert found["body"] == "hello"
        assert (asked_for, server.received[0].headers["host"]) == (["localhost"], f"localhost:{server.port}")
    for issuer, name in ((authority, "other.example"), (trustme.CA(), "localhost")):
        async with serving(serve(issuer, name)) as server:
            kind, message = await refused(ground, f"https://localhost:{server.port}/")
            assert kind is ErrorKind.HOST_ERROR
            assert message.startswith("the certificate of localhost is not trusted")
            assert server.received == []


async def test_no_proxy_of_the_environment_is_asked(
    lab: Ground, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert (await get(lab, server.url))["status"] == 200
        assert proxy.connections == 0


async def test_only_granted_methods_are_used(ground: Ground, server: Server) -> None:
    ground.permissions = network("127.0.0.1", methods=("GET",))
    assert (await get(ground, server.url))["status"] == 200
    kind, message = await refused(ground, server.url, method="DELETE")
    assert (kind, "network.methods" in message) == (DENIED, True)
    assert (await refused(ground, server.url, method="TRACE"))[0] is INVALID
    assert len(server.received) == 1
