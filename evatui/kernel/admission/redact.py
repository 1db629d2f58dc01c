"""Secrets that ended up in a file by mistake: found by the look of their key or of themselves, never shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["SECRET_TEXT", "VEIL", "hide", "looks_secret", "shrouded", "veiled", "veiled_words"]

_SECRET_KEY = re.compile(
    r"(?:^|[_.-])(?:secrets?|tokens?|passwords?|passwd|passphrase|credentials?|authorization|api[_-]?keys?"
    r"|apikeys?|private[_-]?keys?|access[_-]?keys?|cookies?)(?:$|[_.-])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Possessive, and only from the first letter on: a line may be long, and none of its letters is read twice.
_KEY = re.compile(r"""(?<![A-Za-z0-9_.-])(?P<key>[A-Za-z0-9_.-]++)["']?\s*+[:=]\s*+""")
# What stands behind `?` is a key of any shape, and behind a `:` that begins a line the value of such a key.
_EXPLICIT = re.compile(r"^\s*+(?:-\s++)*+[?:](?!\S)|(?<=[\[{,])\s*+\?(?!\S)")
_COLLECTED_KEY = re.compile(r"^.*[\]}]\s*+:(?=\s|$)")
_QUOTED = re.compile(r"""\"[^"]*"?|'[^']*'?|\[(=*)\[.*?(?:\]\1\]|$)""")
_QUOTES = re.compile(r"""\"(?:[^"\\]|\\.)*\"|'(?:[^']|'')*'""", re.DOTALL)
_REACH = 200
"""Lines above that are looked at."""
_LEGIBLE = 20_000
"""Characters in which a secret is looked for; of more than that, nothing is shown."""
SECRET_TEXT = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|AKIA|AIza|eyJ)[A-Za-z0-9_./+=-]{12,}"
    r"|\b[Bb]earer +[A-Za-z0-9._~+/=-]{16,}"
    r"|(?<=://)[^\s/:@\"']{0,200}:[^\s/@\"']{1,200}(?=@)"
    r"|-----BEGIN [A-Z ]*KEY-----[\s\S]*"
)
"""What is a secret wherever it stands."""
_SHROUD = "•"
VEIL = _SHROUD * 8
"""Stands for a value of which not even the length is told."""


def looks_secret(key: str) -> bool:
    """Is ``key`` the kind of name under which people keep secrets: ``api_key``, ``githubToken``, ``password``?"""
    return _SECRET_KEY.search(_CAMEL.sub("_", key)) is not None


def hide(lines: Sequence[str], number: int, *, code: bool = False) -> str:
    """Line ``number`` (from 1) with what looks like a secret dotted out, character for character.

    Columns keep their meaning. In ``code`` only string literals are values, and what stands in an open bracket
    behind such a key; elsewhere it is all behind the key, and a key that is a collection, or written like one.
    """
    line = lines[number - 1] if code else _without_odd_keys(lines[number - 1])
    if (_within_secret if code else _under_secret_key)(lines, number):
        return _shroud(line)
    for match in _KEY.finditer(line):
        if looks_secret(match["key"]):
            value = line[match.end() :]
            shown = _QUOTED.sub(lambda found: _shroud(found[0]), value) if code else _shroud(value)
            line = line[: match.end()] + shown
            break
    return shrouded(line)


def shrouded(text: str) -> str:
    """``text`` with what is a secret wherever it stands dotted out, character for character."""
    return SECRET_TEXT.sub(lambda found: _shroud(found[0]), text)


def veiled(value: Any) -> Any:
    """A JSON-like value without what stands under secret-looking keys, or looks like a secret itself."""
    if isinstance(value, Mapping):
        return {
            key: VEIL if looks_secret(str(key)) and _is_value(child) else veiled(child) for key, child in value.items()
        }
    if isinstance(value, list | tuple):
        return [veiled(child) for child in value]
    return SECRET_TEXT.sub(VEIL, value) if isinstance(value, str) else value


def veiled_words(words: Sequence[str]) -> list[str]:
    """The words of a command line: ``--token=x``, ``--token x`` and ``TOKEN=x`` without the ``x``."""
    shown: list[str] = []
    follows = False
    for word in words:
        name, given, _ = word.partition("=")
        secret = looks_secret(name.lstrip("-"))
        if follows or (given and secret):
            shown.append(f"{name}={VEIL}" if given and secret else VEIL)
        else:
            shown.append(SECRET_TEXT.sub(VEIL, word))
        follows = secret and not given and name.startswith("-")
    return shown


def _is_value(value: Any) -> bool:
    return value is not None and value != "" and not isinstance(value, Mapping)


def _without_odd_keys(line: str) -> str:
    """A key that is a collection has no name to judge it by, and one behind a ``?`` hides it: neither is shown."""
    line = _COLLECTED_KEY.sub(lambda found: _shroud(found[0]), line)
    explicit = _EXPLICIT.search(line)
    return line[: explicit.end()] + _shroud(line[explicit.end() :]) if explicit else line


def _under_secret_key(lines: Sequence[str], number: int) -> bool:
    """Is this line the value, or a part of the value, of a secret-looking or odd key further up? If in doubt, it is."""
    above = lines[max(0, number - _REACH) : number - 1]
    if sum(map(len, above)) + len(lines[number - 1]) > _LEGIBLE:
        return True
    depth = _indent(lines[number - 1])
    for line in reversed(above):
        if line.strip() and _indent(line) < depth:
            depth = _indent(line)
            if _EXPLICIT.search(line) or any(looks_secret(match["key"]) for match in _KEY.finditer(line)):
                return True
    return _left_open(above)


def _within_secret(lines: Sequence[str], number: int) -> bool:
    """Is this line of code within the brackets or the quotes that a secret-looking key above opens?"""
    room = _LEGIBLE - len(lines[number - 1])
    if room < 0:
        return True
    above: list[str] = []
    for line in reversed(lines[max(0, number - _REACH) : number - 1]):
        room -= len(line)
        if room < 0:
            break
        above.append(line)
    return _left_open(above[::-1])


def _left_open(above: Sequence[str]) -> bool:
    """Does the value of a secret-looking key go on behind these lines, or an odd key?"""
    return any(
        _open("\n".join([line[end:], *above[index + 1 :]]).lstrip())
        for index, line in enumerate(above)
        for end in _openings(line)
    )


def _openings(line: str) -> list[int]:
    secret = [match.end() for match in _KEY.finditer(line) if looks_secret(match["key"])]
    return secret + [match.end() for match in _EXPLICIT.finditer(line)]


def _open(value: str) -> bool:
    """Does a quote or a bracket at the beginning of ``value`` go on after its end?"""
    if not value.startswith(("[", "{", '"', "'")):
        return False
    rest = _QUOTES.sub("", value)
    return rest.startswith(('"', "'")) or sum(map(rest.count, "[{")) > sum(map(rest.count, "]}"))


def _indent(line: str) -> int:
    """In half columns: a list's dash counts as a little deeper than the key that it belongs to."""
    bare = line.lstrip(" ")
    return 2 * (len(line) - len(bare)) + bare.startswith("-")


def _shroud(text: str) -> str:
    return "".join(" " if char == " " else _SHROUD for char in text)
