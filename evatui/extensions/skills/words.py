"""Several words in one field: as text with commas or spaces, or as a list."""

from __future__ import annotations

from evatui.kernel.workspace.yaml import Node

__all__ = ["NoWords", "words"]

_MOST = 100
_NOTHING = ("", "~", "null")


class NoWords(Exception):
    """The field holds no words; the text says what it should hold, ``node`` where that is."""

    def __init__(self, message: str, node: Node) -> None:
        super().__init__(message)
        self.message = message
        self.node = node


def words(node: Node) -> tuple[str, ...]:
    """Each once, in the order given. What stands in parentheses is one word: ``Bash(git add:*)``. Raises `NoWords`."""
    if isinstance(node.value, list):
        found = [word for item in node.value for word in _item(item)]
    elif isinstance(node.value, str):
        found = [] if node.value in _NOTHING else _parted(node)
    else:
        raise NoWords("it must be text or a list", node)
    if len(found) > _MOST:
        raise NoWords(f"it holds more than {_MOST} words", node)
    return tuple(dict.fromkeys(found))


def _item(node: Node) -> list[str]:
    if not isinstance(node.value, str) or not node.value.strip():
        raise NoWords("each entry must be text", node)
    _parted(node)  # for what it raises
    return [node.value.strip()]


def _parted(node: Node) -> list[str]:
    text, found, depth = str(node.value), [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            break
        if depth == 0 and (char == "," or char.isspace()):
            found.append("")
        else:
            found[-1] += char
    if depth:
        raise NoWords("its parentheses do not match", node)
    if not all(word.isprintable() for word in found):
        raise NoWords("it holds a character that cannot be shown", node)
    return [word for word in found if word]
