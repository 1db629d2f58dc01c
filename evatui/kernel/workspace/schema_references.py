"""Which other schemas a schema file refers to: they belong to what is read as one."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from evatui.kernel.workspace.paths import InvalidPath, normal

__all__ = ["referred_by", "referred_in", "referred_path"]

_REFERENCE = re.compile(rb'"\$ref"\s*:\s*("(?:[^"\\]|\\.)*")')
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def referred_path(target: str, base: str) -> str | None:
    """The workspace path to which ``target`` leads from the file ``base``; None where it leads out of it.

    A schema that stands in a manifest (``base`` empty) refers by paths from the workspace.
    """
    path = unquote(target.partition("#")[0])
    if not path or _SCHEME.match(path) or path.startswith("/"):
        return None
    try:
        return normal(posixpath.normpath(posixpath.join(posixpath.dirname(base), path)))
    except InvalidPath:
        return None


def referred_in(data: bytes, path: str) -> list[str]:
    """The workspace paths that the bytes of the schema file ``path`` refer to, valid JSON or not."""
    if b"$ref" not in data:
        return []
    found = (_text(match[1]) for match in _REFERENCE.finditer(data))
    return _paths((target for target in found if target is not None), path)


def referred_by(schema: Any) -> list[str]:
    """The same for a schema that stands in a manifest."""
    return _paths(_targets(schema), "")


def _paths(targets: Iterator[str], base: str) -> list[str]:
    found = (referred_path(target, base) for target in targets if not target.startswith("#"))
    return list(dict.fromkeys(path for path in found if path is not None))


def _text(quoted: bytes) -> str | None:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return None


def _targets(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, child in value.items():
            if name == "$ref" and isinstance(child, str):
                yield child
            yield from _targets(child)
    elif isinstance(value, list):
        for child in value:
            yield from _targets(child)
