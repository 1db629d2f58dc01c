"""The transport ``http``: the payload goes out as JSON, and JSON comes back."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from urllib.parse import quote

import orjson

from evatui.adapters.address import Address, address_of
from evatui.adapters.answers import refusal
from evatui.kernel.host.ports import Exchange, HttpPort, Invocation, NotSent, Reply, Setting, WayState
from evatui.kernel.host.urls import Url
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.tools import ServerInfo

__all__ = ["Web"]

_BODILESS: Final = ("GET", "HEAD")
_RETRYABLE: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class Web:
    """``GET`` and ``HEAD`` carry the payload in the query, as text where it is text and as JSON else. No redirect is
    followed: what answers is what the manifest names."""

    server: ServerInfo | None = None

    def __init__(self, adapter: Adapter, setting: Setting, http: HttpPort) -> None:
        self._adapter = adapter
        self._setting = setting
        self._http = http
        self._state = WayState()

    @property
    def state(self) -> WayState:
        return self._state

    def target(self, invocation: Invocation) -> str:
        return clean_line(f"{self._adapter.block['method']} {self._address().url.shown}", 512)

    def _address(self) -> Address:
        return address_of(self._adapter.block)

    async def invoke(self, invocation: Invocation) -> Any:
        block, address = self._adapter.block, self._address()
        secrets = await asyncio.to_thread(address.secrets, block["headers"], self._setting.key)
        body, url = _written(block["method"], address.url, invocation.payload)
        headers = [("Accept", "application/json"), *((name, secret.text) for name, secret in secrets.items())]
        if body:
            headers.append(("Content-Type", "application/json"))
        exchange = Exchange(block["method"], url, tuple(headers), body, address.reach, invocation.limit)
        try:
            reply = await self._http.send(exchange)
        except CallFailed as failed:
            self._state = WayState("idle", failed.error.message)
            if failed.error.kind is ErrorKind.INPUT_TOO_LARGE:
                raise failure(ErrorKind.OUTPUT_TOO_LARGE, failed.error.message) from None
            raise
        self._state = WayState("up")
        return await asyncio.to_thread(self._read, reply, list(secrets.values()))

    def _read(self, reply: Reply, secrets: list[Any]) -> Any:
        who = self._adapter.id
        text = reply.body.decode(errors="replace")
        for secret in secrets:
            text = secret.redacted(text)
        if 300 <= reply.status < 400:
            raise failure(
                ErrorKind.HOST_ERROR, f"{who} redirects elsewhere (status {reply.status}), and is not followed"
            )
        try:
            value = orjson.loads(text) if text else None
        except ValueError:
            value = _NOT_JSON
        if reply.status >= 400:
            told = value.get("error", value) if isinstance(value, dict) else None
            if isinstance(told, dict) and isinstance(told.get("message"), str):
                raise refusal({"retryable": reply.status in _RETRYABLE, **told}, who)
            retryable = reply.status in _RETRYABLE
            kind = ErrorKind.UNAVAILABLE if retryable else ErrorKind.HOST_ERROR
            raise failure(kind, f"{who} answered with the status {reply.status}", retryable=retryable)
        if value is _NOT_JSON:
            raise failure(ErrorKind.INVALID_RESPONSE, f"the answer of {who} is not JSON")
        return value

    async def probe(self) -> None:
        """A request could change something, so there is none."""

    def adjust(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def start(self) -> None:
        """Each call has a connection of its own."""

    async def close(self) -> None:
        """Nothing stays open."""


_NOT_JSON = object()


def _written(method: str, url: Url, payload: Any) -> tuple[bytes, Url]:
    if method not in _BODILESS:
        return orjson.dumps(payload), url
    if not isinstance(payload, dict):
        raise NotSent(ErrorKind.INVALID_INPUT, f"{method} takes an object as its payload", retryable=False)
    pairs = [
        f"{quote(name, safe='')}={quote(value if isinstance(value, str) else orjson.dumps(value).decode(), safe='')}"
        for name, value in payload.items()
    ]
    mark = "&" if "?" in url.target else "?"
    target = f"{url.target}{mark}{'&'.join(pairs)}" if pairs else url.target
    return b"", Url(url.scheme, url.host, url.port, target)
