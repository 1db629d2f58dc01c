"""URLs as a handler may give them: one spelling for each host, and nothing in them that says two things."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import quote, urljoin, urlsplit

import idna

from evatui.kernel.model.address import literal

__all__ = ["MAX_URL", "InvalidUrl", "Url", "parse_url"]

MAX_URL = 8_192
_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_AS_IT_IS = "".join(map(chr, range(0x21, 0x7F)))
_NEVER = re.compile(r'[\x00-\x20\x7f\\<>"^`{|}]')


class InvalidUrl(ValueError):
    """Not a URL that may be asked for; the text says why, without the URL."""


@dataclass(frozen=True, slots=True)
class Url:
    """``host`` is lower case and ASCII, or an address in its plain spelling, without brackets.

    ``target`` is the path with its query, percent-encoded.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """What the ``Host`` header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def shown(self) -> str:
        """For records: without the query, which may hold anything."""
        path, question, _ = self.target.partition("?")
        return f"{self.scheme}://{self.authority}{path}{'?…' if question else ''}"

    def follow(self, location: str) -> Url:
        """Where a redirect from here leads. Raises `InvalidUrl`."""
        try:
            joined = urljoin(f"{self.scheme}://{self.authority}{self.target}", location)
        except ValueError:
            raise InvalidUrl("it is no URL") from None
        return parse_url(joined)


def parse_url(text: str) -> Url:
    """Raises `InvalidUrl`. A fragment is dropped, as it is never sent."""
    if len(text) > MAX_URL:
        raise InvalidUrl(f"it has more than {MAX_URL:,} characters")
    if _NEVER.search(text):
        raise InvalidUrl("it holds a character that must be percent-encoded")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise InvalidUrl("it is no URL") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        raise InvalidUrl("only http and https are spoken")
    if "@" in parts.netloc:
        raise InvalidUrl("it must not hold a user or a password; the policy defines credentials")
    if port == 0:
        raise InvalidUrl("port 0 is no port")
    host = _host(parts.hostname or "")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Url(scheme, host, port or _PORTS[scheme], quote(target, safe=_AS_IT_IS))


def _host(name: str) -> str:
    """One spelling of each host: a number is an address only as four decimal parts, as no two programs agree else."""
    if not name:
        raise InvalidUrl("it names no host")
    address = literal(name)
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            raise InvalidUrl("an address with a zone is refused")
        return str(address)
    if address is not None:
        return str(address)
    if ":" in name or "%" in name:
        raise InvalidUrl("its host is neither a name nor an address")
    name = _ascii(name).removesuffix(".")
    if literal(name) is not None:
        return name
    labels = name.split(".")
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise InvalidUrl("its host is not a name")
    if labels[-1].isdigit() or re.fullmatch(r"0x[0-9a-f]*", labels[-1]):
        raise InvalidUrl("an address must be spelt as four decimal numbers")
    return name


def _ascii(name: str) -> str:
    if name.isascii():
        return name.lower()
    try:
        return idna.encode(name, uts46=True, transitional=False).decode("ascii").lower()
    except idna.IDNAError:
        raise InvalidUrl("its host is not a name") from None
