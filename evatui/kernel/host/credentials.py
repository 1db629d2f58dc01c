"""Values that the kernel puts into a request, and that no handler ever sees."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.host.spellings import Spelling, spellings
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.permissions import covers_host, covers_name
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.redact import REDACTED

__all__ = ["Credential", "Credentials"]

_FIT = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Credential:
    """Goes into ``header`` as ``text``, which is the ``value`` behind a prefix, and only to ``hosts``."""

    name: str
    hosts: tuple[str, ...]
    header: str
    text: str = field(repr=False)
    value: str = field(repr=False)
    spelt: tuple[Spelling, ...] = field(repr=False)

    def goes_to(self, host: str) -> bool:
        return any(covers_host(entry, host) for entry in self.hosts)

    def redacted(self, text: str) -> str:
        """``text`` without the value, in whichever of its `spellings`. Takes a while: for a thread."""
        data = text.encode()
        lower = data.lower()
        found = sorted(span for spelling in self.spelt for span in spelling.spans(lower))
        if not found:
            return text
        kept, at = [], 0
        for start, end in found:
            if start >= at:
                kept.append(data[at:start].decode(errors="replace"))
            at = max(at, end)
        return REDACTED.join((*kept, data[at:].decode(errors="replace")))


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
        return Credential(
            name, tuple(defined["hosts"]), defined["header"], text, value, _spelt(defined["prefix"], value)
        )


def _spelt(prefix: str, value: str) -> tuple[Spelling, ...]:
    """The value, and of one for ``Basic`` what it was made from."""
    values = [value]
    if prefix.strip().lower() == "basic":
        with suppress(ValueError):
            pair = base64.b64decode(value, validate=True).decode()
            values += filter(None, (pair, pair.partition(":")[2]))
    return tuple(spelling for each in dict.fromkeys(values) for spelling in spellings(each))
