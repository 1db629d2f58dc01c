"""A YAML file as what it says; where it says so is found out only where something in it has to be placed."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import yaml
from yaml import ScalarNode, SequenceNode
from yaml._yaml import CParser

from evatui.kernel.workspace.decoding import decode
from evatui.kernel.workspace.scalars import UnfitNumber, resolve
from evatui.kernel.workspace.yaml import MAX_DEPTH, MAX_NODES, Node, parse, plain

__all__ = ["Document"]

_MAX_QUICK = 16_384
"""Bytes: what is larger is read event by event, so that the bounds hold before anything is built."""
_LATEST = 8
_SIGNS = (b"&", b"!", b"%YAML")
"""Of an anchor, of a tag, of another version: composed nodes do not tell."""


@dataclass(frozen=True, slots=True)
class Document:
    """The bytes of one that can be read; what they say is kept only for those that were asked last.

    Raises `YamlProblem`.
    """

    data: bytes
    file: str

    def __post_init__(self) -> None:
        _read(self.data, self.file)

    @property
    def value(self) -> Any:
        """Plain: dicts, lists, text, numbers, booleans, None. It is shared, and stays as it is."""
        return _read(self.data, self.file)

    @property
    def tree(self) -> Node:
        """The same with positions."""
        return _parse(self.data, self.file)


class _Doubtful(Exception):
    """Perhaps wrong, perhaps only unusual: the reader with positions decides."""


_parse = functools.lru_cache(_LATEST)(parse)


@functools.lru_cache(_LATEST)
def _read(data: bytes, file: str) -> Any:
    try:
        if len(data) > _MAX_QUICK or any(sign in data for sign in _SIGNS):
            raise _Doubtful
        return _Quick().value(_Composer(decode(data, file)).get_single_node(), 1)
    except (_Doubtful, UnfitNumber, yaml.YAMLError):
        return plain(parse(data, file))


class _Composer(CParser):
    """libyaml's own, without the guesses at types that PyYAML makes for every scalar.

    It asks for each value where it stands and of what type it is: the answer is "" to whatever is asked, and not given
    by Python, which would take longer than the reading.
    """

    resolve = descend_resolver = ascend_resolver = "".format


class _Quick:
    """What composed nodes say, as long as there is no doubt."""

    def __init__(self) -> None:
        self._nodes = 1

    def value(self, node: Any, depth: int) -> Any:
        kind = node.__class__
        if kind is ScalarNode:
            return node.value if node.style else resolve(node.value)
        if node is None or depth >= MAX_DEPTH:
            raise _Doubtful
        children = node.value
        self._nodes += len(children)
        if self._nodes > MAX_NODES // 2:  # a pair is two
            raise _Doubtful
        depth += 1
        if kind is SequenceNode:
            return [self.value(child, depth) for child in children]
        found = {}
        for key, child in children:
            if key.__class__ is not ScalarNode:
                raise _Doubtful
            name = key.value if key.style else resolve(key.value)
            if name.__class__ is not str or name in found:
                raise _Doubtful
            if child.__class__ is ScalarNode:  # most are: not worth a call of their own
                found[name] = child.value if child.style else resolve(child.value)
            else:
                found[name] = self.value(child, depth)
        return found
