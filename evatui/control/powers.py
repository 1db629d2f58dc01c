"""What trust in a workspace is about, in words: for the console's dialog and for ``eva trust``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evatui.kernel.model.text import clean_line

__all__ = ["power_lines"]

_MAX_WORDS = 400


def power_lines(power: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the part may do, as pairs: ``connects to`` and the hosts, ``starts`` and the commands, and so on.

    ``power`` is that of a part of ``trust.show``.
    """
    return [(clean_line(what, 80), clean_line(said, _MAX_WORDS)) for what, said in _lines(power)]


def _lines(power: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in power.items():
        if name == "network":
            methods = f"  ({', '.join(value['methods'])})" if value["methods"] else ""
            yield "connects to", ", ".join(map(_host, value["hosts"])) + methods
        elif name == "shell":
            yield "starts", " | ".join(" ".join(argv) for argv in value["commands"])
        elif name == "env":
            yield "uses secrets", ", ".join("every credential" if entry == "*" else entry for entry in value)
        elif name == "credentials":
            for secret, one in value.items():
                hosts = ", ".join(map(_host, one["hosts"])) or "no host"
                yield f"sends {secret}", f"to {hosts}, as {one['header']}"
        else:
            yield name, _said(value)


def _host(host: str) -> str:
    return "every host" if host == "*" else host


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key} {_said(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    return str(value)
