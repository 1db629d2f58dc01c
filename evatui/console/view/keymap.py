"""``keymap.toml``: other keys for actions, by their ids. Whatever is wrong with it is said with its line."""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from evatui.console.view.actions import ACTIONS, Action, rekeyed
from evatui.console.view.key_names import key_name, key_sign

__all__ = ["FILE", "KeymapError", "read_keymap"]

FILE = "keymap.toml"
_NAMED = frozenset(
    (
        *("enter", "escape", "tab", "space", "backspace", "delete", "insert", "home", "end"),
        *("pageup", "pagedown", "up", "down", "left", "right"),
        *(f"f{number}" for number in range(1, 25)),
        *map(key_name, string.punctuation),
    )
)
_MODIFIERS = frozenset({"ctrl", "shift", "alt"})


class KeymapError(Exception):
    """Its text has file, line, what is wrong, and what to do."""


def read_keymap(text: str) -> dict[str, str]:
    """Action ids to keys, as `Actions` takes them. An empty text takes the key away. Raises `KeymapError`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise KeymapError(f"{FILE}: {problem}") from None
    for name in document:
        if name != "keys":
            raise _at(text, name, f"there is no table [{name}]; keys stand under [keys]")
    keys = document.get("keys", {})
    if not isinstance(keys, Mapping):
        raise _at(text, "keys", 'keys is a table: write [keys], and below it lines such as drain = "X"')
    known = {action.id: action for action in ACTIONS}
    keymap = {name: _keys(text, str(name), value, known) for name, value in keys.items()}
    _refuse_clashes(text, keymap)
    return keymap


def _keys(text: str, name: str, value: object, known: Mapping[str, Action]) -> str:
    if name not in known:
        near = get_close_matches(name, known, n=1)
        raise _at(text, name, f"there is no action {name}; " + (f"{near[0]}?" if near else "docs/console.md has them"))
    given = value.split(",") if isinstance(value, str) and value != "," else value
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list) or not all(isinstance(key, str) for key in given):
        raise _at(text, name, f'the keys of {name} are a text or a list of texts, such as "X" or ["X", "ctrl+x"]')
    return ",".join(_key(text, name, key.strip()) for key in given if key.strip())


def _key(text: str, name: str, key: str) -> str:
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    fits = (len(last) == 1 and last.isprintable()) or last in _NAMED
    if not fits or not set(modifiers) <= _MODIFIERS:
        raise _at(text, name, f"there is no key {key}; a sign such as X or ?, a name such as f5 or pageup, or ctrl+x")
    return "+".join([*modifiers, key_name(last)])


def _refuse_clashes(text: str, keymap: Mapping[str, str]) -> None:
    actions = {action.id: rekeyed(action, keymap) for action in ACTIONS}
    for name in keymap:
        action = actions[name]
        for other in actions.values():
            if other is not action and other.views & action.views and (shared := _shared(action, other)):
                whose = f"{key_sign(shared)} is the key of {other.id} already"
                raise _at(text, name, f"{whose}; give {other.id} another one, or take this line out")


def _shared(one: Action, other: Action) -> str:
    keys = set(filter(None, one.key.split(","))) & set(other.key.split(","))
    return min(keys, default="")


def _at(text: str, name: str, message: str) -> KeymapError:
    return KeymapError(f"{FILE}:{next(_lines_of(text, name), 1)}: {message}")


def _lines_of(text: str, name: str) -> Iterator[int]:
    begins = re.compile(rf"""\s*\[*\s*["']?{re.escape(name)}["']?\s*[=\].]""")
    return (number for number, row in enumerate(text.splitlines(), 1) if begins.match(row))
