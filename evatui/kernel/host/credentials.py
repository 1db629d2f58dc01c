"""Values that the kernel puts into a request, and that no handler ever sees."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.permissions import covers_host, covers_name
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.redact import REDACTED

__all__ = ["Credential", "Credentials"]

_FIT = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", re.ASCII)
_SHORTEST_PART = 4
_IN_BASE64 = {"+": "(?:[+-]|%2b)", "/": r"(?:\\?/|_|%2f)"}
_ENTITIES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}


@dataclass(frozen=True, slots=True)
class Credential:
    """Goes into ``header`` as ``text``, and only to ``hosts``. ``secret`` finds it in lower-case bytes."""

    name: str
    hosts: tuple[str, ...]
    header: str
    text: str = field(repr=False)
    secret: re.Pattern[bytes] = field(repr=False)

    def goes_to(self, host: str) -> bool:
        return any(covers_host(entry, host) for entry in self.hosts)

    def redacted(self, text: str) -> str:
        """``text`` without the value, however programs may have spelt what they were sent: case, escapes, base64."""
        data = text.encode()
        found = [match.span() for match in self.secret.finditer(data.lower())]
        if not found:
            return text
        ends = [0, *(end for _, end in found)]
        starts = [*(start for start, _ in found), len(data)]
        return REDACTED.join(data[end:start].decode(errors="replace") for end, start in zip(ends, starts, strict=True))


class Credentials:
    """Values are read from ``environ`` at the moment of use."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def take(self, name: str, granted: tuple[str, ...], definitions: Mapping[str, Mapping[str, Any]]) -> Credential:
        """Raises ``PolicyDenied`` where it is not granted or not defined, ``Unavailable`` where it has no value."""
        shown = clean_line(name, 128)
        if not any(covers_name(grant, name) for grant in granted):
            raise failure(ErrorKind.POLICY_DENIED, f"the credential {shown} is not granted: env does not cover it")
        defined = definitions.get(name)
        if defined is None:
            raise failure(ErrorKind.POLICY_DENIED, f"the policy defines no credential {shown}")
        value = self._environ.get(name, "")
        if not value:
            raise failure(ErrorKind.UNAVAILABLE, f"the credential {shown} is not set where evatui was started")
        text = defined["prefix"] + value
        if not _FIT.fullmatch(text):
            raise failure(ErrorKind.UNAVAILABLE, f"the credential {shown} has characters that no header can hold")
        return Credential(name, tuple(defined["hosts"]), defined["header"], text, _secret(defined["prefix"], value))


def _secret(prefix: str, value: str) -> re.Pattern[bytes]:
    """The value, and of one for ``Basic`` what it was made from."""
    values = [value]
    if prefix.strip().lower() == "basic":
        with suppress(ValueError):
            pair = base64.b64decode(value, validate=True).decode()
            values += filter(None, (pair, pair.partition(":")[2]))
    spellings = dict.fromkeys(spelling for each in values for spelling in _spellings(each))
    return re.compile("|".join(sorted(spellings, key=len, reverse=True)).lower().encode())


def _spellings(value: str) -> Iterator[str]:
    """Patterns."""
    data = value.encode()
    yield "".join(map(_sign, value))
    yield data.hex()
    for part in _in_base64(data):
        yield "".join(_IN_BASE64.get(letter, letter) for letter in part)


def _sign(sign: str) -> str:
    """One character as it is, or as JSON, HTML, URLs and programming languages escape it."""
    code = ord(sign)
    ways = [re.escape(sign), f"%{code:02x}", rf"\\(?:u00|x){code:02x}", f"&#(?:0*{code}|x0*{code:x});"]
    if not sign.isalnum():
        ways.append(re.escape(f"\\{sign}"))
    if sign == " ":
        ways.append(r"\+")
    if sign in _ENTITIES:
        ways.append(f"&{_ENTITIES[sign]};")
    return f"(?:{'|'.join(ways)})"


def _in_base64(data: bytes) -> Iterator[str]:
    """The parts of a longer text that do not depend on what stands around it, without padding; and all of it."""
    yield base64.b64encode(data).decode().rstrip("=")
    for before in range(3):
        whole = (before + len(data)) * 8 // 6  # letters that hold nothing of what comes after
        part = base64.b64encode(bytes(before) + data)[-(-before * 8 // 6) : whole].decode()
        if len(part) >= _SHORTEST_PART:
            yield part
