"""URLs as a handler may give them: one spelling for each host, and nothing in them that says two things."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import quote, unquote, urljoin, urlsplit

from evatui.kernel.model.address import literal
from evatui.kernel.records.redact import REDACTED, is_secret_key

__all__ = ["MAX_URL", "InvalidUrl", "Url", "parse_url"]

MAX_URL = 8_192
_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^][:@]+))(?::(?P<port>[0-9]{1,5}))?",
    re.ASCII,
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
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
        """For records: without the values of what is named like a secret in the query."""
        path, question, query = self.target.partition("?")
        return f"{self.scheme}://{self.authority}{path}{question}{'&'.join(map(_shown_pair, query.split('&')))}"

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
    except ValueError:
        raise InvalidUrl("it is no URL") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        raise InvalidUrl("only http and https are spoken")
    if "@" in parts.netloc:
        raise InvalidUrl("it must not hold a user or a password; the policy defines credentials")
    found = _AUTHORITY.fullmatch(parts.netloc)
    if found is None:
        raise InvalidUrl("it names no host")
    port = int(found["port"] or _PORTS[scheme])
    if not 1 <= port <= 65_535:
        raise InvalidUrl("its port must be from 1 to 65535")
    host = _address(found["six"]) if found["six"] else _name(found["name"])
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Url(scheme, host, port, quote(target, safe=_AS_IT_IS))


def _address(text: str) -> str:
    address = literal(text)
    if not isinstance(address, IPv6Address):
        raise InvalidUrl("its host is no IPv6 address")
    return str(address)


def _name(text: str) -> str:
    """One spelling of each host: a number is an address only as four decimal parts, as no two programs agree else."""
    if not text.isascii():
        raise InvalidUrl("its host must be spelt in ASCII, as xn--…")
    name = text.lower().removesuffix(".")
    if literal(name) is not None:
        return name
    labels = name.split(".")
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise InvalidUrl("its host is not a name")
    if _NUMBER.fullmatch(labels[-1]):
        raise InvalidUrl("an address must be spelt as four decimal numbers")
    return name


def _shown_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    return f"{name}={REDACTED}" if equals and value and is_secret_key(unquote(name)) else pair
