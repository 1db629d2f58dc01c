"""Speaking to other machines."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.asker import Asker, HostCall
from evatui.kernel.host.credentials import Credential
from evatui.kernel.host.ports import Exchange, Reply
from evatui.kernel.host.urls import MAX_URL, InvalidUrl, Url, parse_url
from evatui.kernel.model.address import Reach, literal, owns_its_name, reach_of
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.permissions import covers_host, covers_name
from evatui.kernel.model.text import clean_line

__all__ = ["http_request"]

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_MAX_BODY = 1_048_576
_MAX_REPLY = 4_194_304
_MAX_HEADERS = 64
_MAX_HEADER_CHARS = 32_768
_DEFAULT_MS = 30_000
_MAX_MS = 600_000
_MAX_REDIRECTS = 5
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}", re.ASCII)
_VALUE = re.compile(r"(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?", re.ASCII)
_OF_THE_MESSAGE = ("host", "content-length", "transfer-encoding", "accept-encoding", "expect", "te", "trailer")
_OF_THE_CONNECTION = (
    "connection",
    "keep-alive",
    "upgrade",
    "http2-settings",
    "proxy-connection",
    "proxy-authorization",
)
_KERNELS = {*_OF_THE_MESSAGE, *_OF_THE_CONNECTION}
_FOR_ONE_ORIGIN = ("authorization", "cookie")
_REDIRECTS = (301, 302, 303, 307, 308)
_Hide = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is sent next. ``credential`` is None once it may go no further."""

    method: str
    url: Url
    headers: dict[str, str]
    body: bytes
    credential: Credential | None


async def http_request(asker: Asker, given: Arguments, call: HostCall) -> dict[str, Any]:
    method, address = given.take_text("method", "GET", limit=16).upper(), given.take_text("url", limit=MAX_URL)
    headers = given.take_pairs("headers", most=_MAX_HEADERS, limit=_MAX_HEADER_CHARS)
    body = given.take_text("body", "", limit=_MAX_BODY, empty=True).encode()
    timeout_ms = given.take_number("timeout_ms", _DEFAULT_MS, 1, _MAX_MS) or _DEFAULT_MS
    wanted = given.take_text("credential", "", limit=128, empty=True)
    given.done()
    url = _url(address)
    call.target = _target(method, url)
    _check(method, headers, body)
    _permitted(asker, method, url)
    asker.require_effects(call)
    credential = await asyncio.to_thread(_credential, asker, wanted, url, headers) if wanted else None
    hide = credential.redacted if credential else _as_it_is
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            reply = await _answered(asker, call, _Asked(method, url, headers, body, credential), hide)
    except TimeoutError:
        raise failure(ErrorKind.TIMEOUT, f"{url.host} has not answered within {timeout_ms} ms") from None
    except CallFailed as failed:
        error = failed.error
        raise failure(error.kind, hide(error.message), retryable=error.retryable, **error.details) from None
    return await asyncio.to_thread(_given_back, reply, hide)


async def _answered(asker: Asker, call: HostCall, asked: _Asked, hide: _Hide) -> Reply:
    """The last answer of a chain of redirects, each of which is announced, and must be granted, as the first was."""
    for _ in range(_MAX_REDIRECTS + 1):
        reach = _permitted(asker, asked.method, asked.url)
        await asyncio.to_thread(asker.announce, call)
        headers = dict(asked.headers)
        if asked.credential:
            headers[asked.credential.header] = asked.credential.text
        sent = tuple(headers.items())
        exchange = Exchange(asked.method, asked.url, sent, asked.body, reach, _MAX_REPLY)
        reply = await asker.parts.outside.http.send(exchange)
        following = _redirected(asked, reply)
        if following is None:
            return reply
        asked = following
        call.target = clean_line(f"{call.target} → {hide(_target(asked.method, asked.url))}", 1_000)
    raise failure(ErrorKind.HOST_ERROR, f"{asked.url.host} redirects more than {_MAX_REDIRECTS} times")


def _redirected(asked: _Asked, reply: Reply) -> _Asked | None:
    """Where the answer leads on the same host; None where it is the answer, or leads elsewhere."""
    location = next((value for name, value in reply.headers if name == "location"), None)
    if reply.status not in _REDIRECTS or location is None:
        return None
    try:
        url = asked.url.follow(location)
    except InvalidUrl:
        return None
    if url.host != asked.url.host or (asked.url.scheme, url.scheme) == ("https", "http"):
        return None
    headers, method, body = dict(asked.headers), asked.method, asked.body
    if reply.status in (301, 302, 303) and (method == "POST" or (reply.status == 303 and method != "HEAD")):
        method, body = "GET", b""
        headers = {name: value for name, value in headers.items() if not name.lower().startswith("content-")}
    stays = url.origin == asked.url.origin
    if not stays:
        headers = {name: value for name, value in headers.items() if name.lower() not in _FOR_ONE_ORIGIN}
    return _Asked(method, url, headers, body, asked.credential if stays else None)


def _given_back(reply: Reply, hide: _Hide) -> dict[str, Any]:
    try:
        body = reply.body.decode()
    except UnicodeDecodeError as error:
        message = f"the answer (status {reply.status}) is not UTF-8 text (byte {error.start})"
        raise failure(ErrorKind.HOST_ERROR, message, status=reply.status) from None
    headers: dict[str, str] = {}
    for name, value in reply.headers:
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    shown = {hide(name): hide(value) for name, value in headers.items()}
    return {"status": reply.status, "headers": shown, "body": hide(body)}


def _as_it_is(text: str) -> str:
    return text


def _url(address: str) -> Url:
    try:
        return parse_url(address)
    except InvalidUrl as problem:
        raise failure(ErrorKind.INVALID_INPUT, f"http_request: the url is refused: {problem}") from None


def _check(method: str, headers: dict[str, str], body: bytes) -> None:
    if method not in _METHODS:
        raise failure(ErrorKind.INVALID_INPUT, f"http_request: method must be one of {', '.join(_METHODS)}")
    if len(body) > _MAX_BODY:
        raise failure(ErrorKind.INVALID_INPUT, f"http_request: body has {len(body)} bytes, {_MAX_BODY} are allowed")
    if body and method in ("GET", "HEAD"):
        raise failure(ErrorKind.INVALID_INPUT, f"http_request: {method} takes no body")
    seen: set[str] = set()
    for name, value in headers.items():
        shown, lower = clean_line(name, 64), name.lower()
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value) or lower in seen:
            raise failure(ErrorKind.INVALID_INPUT, f"http_request: the header {shown} is none, or is there twice")
        if lower in _KERNELS:
            raise failure(ErrorKind.POLICY_DENIED, f"the header {shown} is refused: the kernel writes it")
        seen.add(lower)


def _permitted(asker: Asker, method: str, url: Url) -> Reach:
    """How far away the host must be. Asked of the policy before each request that is sent."""
    granted = asker.scope.permissions().network
    shown = clean_line(url.host, 256)
    if not any(covers_host(grant, url.host) for grant in granted.hosts):
        raise failure(ErrorKind.POLICY_DENIED, f"{shown} is not granted: network.hosts does not cover it")
    if not any(covers_name(grant, method) for grant in granted.methods):
        raise failure(ErrorKind.POLICY_DENIED, f"{method} is not granted: network.methods does not cover it")
    reach = _reach(url.host)
    if reach is Reach.CLOSED:
        raise failure(ErrorKind.POLICY_DENIED, f"{shown} is refused, whatever the grant")
    return reach


def _reach(host: str) -> Reach:
    address = literal(host)
    if address is not None:
        return reach_of(address)
    return Reach.LOOPBACK if owns_its_name(host) else Reach.PUBLIC


def _credential(asker: Asker, name: str, url: Url, headers: dict[str, str]) -> Credential:
    found = asker.parts.outside.credentials.take(name, asker.scope.permissions().env, asker.scope.credentials())
    if not found.goes_to(url.host):
        message = f"the credential {found.name} does not go to {clean_line(url.host, 256)}"
        raise failure(ErrorKind.POLICY_DENIED, message)
    if url.scheme != "https" and _reach(url.host) is not Reach.LOOPBACK:
        raise failure(ErrorKind.POLICY_DENIED, f"the credential {found.name} goes by https only")
    if found.header.lower() in {header.lower() for header in headers}:
        raise failure(ErrorKind.POLICY_DENIED, f"the header {found.header} is refused: the credential is sent in it")
    return found


def _target(method: str, url: Url) -> str:
    return clean_line(f"{method} {url.shown}", 512)
