"""Secrets kept out of recorded values, by the names that people give them and by their looks."""

from __future__ import annotations

import re
from typing import Any

from evatui.kernel.admission.redact import SECRET_TEXT

__all__ = ["REDACTED", "is_secret_key", "redact"]

REDACTED = "[redacted]"

_SECRET_WORDS = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "authorization",
    "credential",
    "privatekey",
    "cookie",
)
_SEPARATORS = str.maketrans("", "", "-_. ")
_SECRET_TEXT = re.compile(SECRET_TEXT.pattern + r"|\b(?i:Bearer|Basic) +[A-Za-z0-9._~+/=-]{8,}")
_MAX_DEPTH = 64


def is_secret_key(key: str) -> bool:
    """``api_key``, ``X-Api-Key`` and ``apiKey`` are one name, and so is anything that holds a secret's word."""
    plain = key.casefold().translate(_SEPARATORS)
    return any(word in plain for word in _SECRET_WORDS)


def redact(value: Any, depth: int = 0) -> Any:
    """A copy of the JSON-like ``value`` with each secret-looking member and text replaced by `REDACTED`.

    What lies deeper than 64 levels is replaced too: it cannot be vouched for.
    """
    if isinstance(value, str):
        return _SECRET_TEXT.sub(REDACTED, value)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth >= _MAX_DEPTH:
        return REDACTED
    if isinstance(value, dict):
        return {key: REDACTED if is_secret_key(key) else redact(item, depth + 1) for key, item in value.items()}
    return [redact(item, depth + 1) for item in value]
