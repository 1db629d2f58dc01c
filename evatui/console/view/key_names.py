"""What signs are called as keys: ``?`` is ``question_mark``, as the terminal library has it."""

from __future__ import annotations

import string
import unicodedata

__all__ = ["key_name", "key_sign"]

_NAMES = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}


def key_name(sign: str) -> str:
    if len(sign) != 1 or sign.isalnum():
        return sign
    name = unicodedata.name(sign, "").lower().replace("-", "_").replace(" ", "_")
    return _NAMES.get(name, name)


_SIGNS = {key_name(sign): sign for sign in string.punctuation}


def key_sign(name: str) -> str:
    """As it stands on the keyboard."""
    *modifiers, last = name.split("+")
    return "+".join([*modifiers, _SIGNS.get(last, last)])
