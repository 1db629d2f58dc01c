"""The address that an adapter names: how far away it may be, and which secrets go there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evatui.kernel.host.credentials import Credential
from evatui.kernel.host.ports import NotSent
from evatui.kernel.host.urls import InvalidUrl, Url, parse_url
from evatui.kernel.model.address import Reach, literal, owns_its_name, reach_of
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["Address", "address_of"]


@dataclass(frozen=True, slots=True)
class Address:
    url: Url
    reach: Reach

    def secrets(
        self, headers: Mapping[str, Mapping[str, str]], key: Callable[[str], Credential]
    ) -> dict[str, Credential]:
        """By header. Blocking. Raises `NotSent` for one that the policy does not define, or not for this host."""
        found: dict[str, Credential] = {}
        for header, named in headers.items():
            try:
                secret = key(named["credential"])
            except CallFailed as failed:
                raise NotSent(failed.error.kind, failed.error.message, retryable=False) from None
            if not secret.goes_to(self.url.host):
                message = f"the credential {secret.name} does not go to {clean_line(self.url.host, 256)}"
                raise NotSent(ErrorKind.POLICY_DENIED, message, retryable=False)
            found[header] = secret
        return found


def address_of(block: Mapping[str, Any]) -> Address:
    """Raises `NotSent` ``PolicyDenied`` for an address inside, but for this machine's own where the block allows that,
    and for one that is not reached by https."""
    try:
        url = parse_url(block["url"])
    except InvalidUrl as problem:
        raise NotSent(ErrorKind.INVALID_INPUT, f"the url is refused: {problem}", retryable=False) from None
    shown, reach = clean_line(url.host, 256), _reach(url.host)
    if reach is Reach.LOOPBACK and not block["allow_loopback"]:
        raise _denied(f"{shown} is this machine, and allow_loopback is not set")
    if reach in (Reach.PRIVATE, Reach.CLOSED):
        raise _denied(f"{shown} is refused: it is not a public address")
    if reach is Reach.PUBLIC and url.scheme != "https":
        raise _denied(f"{shown} is reached by https only")
    return Address(url, reach)


def _denied(message: str) -> NotSent:
    return NotSent(ErrorKind.POLICY_DENIED, message, retryable=False)


def _reach(host: str) -> Reach:
    address = literal(host)
    if address is not None:
        return reach_of(address)
    return Reach.LOOPBACK if owns_its_name(host) else Reach.PUBLIC
