"""``eva.yaml`` read strictly: no unknown key, no value out of its range."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeVar

from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.codes import reading_diagnostic
from evatui.kernel.workspace.paths import InvalidPath, normal
from evatui.kernel.workspace.settings import (
    AuditMode,
    AuditSettings,
    Folders,
    McpServerSettings,
    Polling,
    RuntimeMode,
    RuntimeSettings,
    Settings,
    WatchSettings,
)
from evatui.kernel.workspace.yaml import Node, Place

__all__ = ["read_settings"]


class _Unfit(Exception):
    """The value does not fit; the text goes on after "<key> must be …"."""

    def __init__(self, wanted: str, node: Node | None = None) -> None:
        super().__init__(wanted)
        self.node = node


_Check = Callable[[Node], Any]
_Section = TypeVar("_Section", Folders, RuntimeSettings, WatchSettings, AuditSettings, McpServerSettings)


def read_settings(tree: Node, folders: Folders) -> tuple[Settings, tuple[Diagnostic, ...]]:
    """The settings of ``eva.yaml`` over the defaults (with ``folders``), and everything wrong with it."""
    return _SettingsReader().read(tree, Settings(folders=folders))


class _SettingsReader:
    def __init__(self) -> None:
        self._problems: list[Diagnostic] = []

    def read(self, tree: Node, defaults: Settings) -> tuple[Settings, tuple[Diagnostic, ...]]:
        parts = self._mapping("", tree, _TOP)
        roots = parts.get("roots")
        settings = replace(
            defaults,
            folders=self._section("layout", parts, defaults.folders, _FOLDERS),
            roots=defaults.roots if roots is None else MappingProxyType({**defaults.roots, **roots}),
            runtime=self._section("runtime", parts, defaults.runtime, _RUNTIME),
            watch=self._section("watch", parts, defaults.watch, _WATCH),
            audit=self._section("audit", parts, defaults.audit, _AUDIT),
            mcp_server=self._section("mcp_server", parts, defaults.mcp_server, _MCP_SERVER),
        )
        return settings, tuple(self._problems)

    def _section(
        self, name: str, parts: Mapping[str, Any], default: _Section, checks: Mapping[str, _Check]
    ) -> _Section:
        node = parts.get(name)
        return default if node is None else replace(default, **self._mapping(name, node, checks))

    def _mapping(self, name: str, node: Node, checks: Mapping[str, _Check]) -> dict[str, Any]:
        """The checked values; a key without a value keeps its default."""
        if node.value is None:
            return {}
        if not isinstance(node.value, dict):
            self._unfit(name or node.file, "a mapping of keys to values", node)
            return {}
        values: dict[str, Any] = {}
        for key, child in node.value.items():
            path = f"{name}.{key}" if name else key
            if key not in checks:
                self._unknown(path, node.keys[key].span(node.file), get_close_matches(key, checks, 1))
            elif child.value is not None:
                self._value(values, path, key, child, checks[key])
        return values

    def _value(self, values: dict[str, Any], path: str, key: str, node: Node, check: _Check) -> None:
        try:
            values[key] = check(node)
        except _Unfit as unfit:
            self._unfit(path, str(unfit), unfit.node or node)

    def _unfit(self, path: str, wanted: str, node: Node) -> None:
        message = f"{clean_line(path, 80)} must be {wanted}"
        self._problems.append(reading_diagnostic("EVA-122", message, node.span()))

    def _unknown(self, path: str, span: Span, near: list[str]) -> None:
        message = f"eva.yaml has no key {clean_line(path, 80)}"
        if near:
            message += f"; did you mean {near[0]}?"
        self._problems.append(reading_diagnostic("EVA-121", message, span))


def _any(node: Node) -> Node:
    return node


def _switch(node: Node) -> bool:
    if isinstance(node.value, bool):
        return node.value
    raise _Unfit("true or false")


def _number(low: int, high: int) -> _Check:
    def check(node: Node) -> int:
        if isinstance(node.value, int) and not isinstance(node.value, bool) and low <= node.value <= high:
            return node.value
        raise _Unfit(f"a whole number from {low:,} to {high:,}")

    return check


def _one_of(kind: type[StrEnum]) -> _Check:
    def check(node: Node) -> StrEnum:
        if isinstance(node.value, str) and node.value in [member.value for member in kind]:
            return kind(node.value)
        raise _Unfit("one of " + ", ".join(kind))

    return check


def _polling(node: Node) -> Polling:
    if isinstance(node.value, bool) or node.value == Polling.AUTO:
        return Polling(str(node.value).lower())
    raise _Unfit("auto, true or false")


def _texts(node: Node) -> tuple[str, ...]:
    if not isinstance(node.value, list):
        raise _Unfit("a list of texts")
    return tuple(_text(child) for child in node.value)


def _text(node: Node) -> str:
    if isinstance(node.value, str) and node.value.isprintable() and node.value:
        return node.value
    raise _Unfit("text; put it in quotes", node)


def _folder(node: Node) -> str:
    try:
        return normal(_text(node))
    except InvalidPath as error:
        raise _Unfit(f"a folder inside the workspace: {error}", node) from None


def _folders(node: Node) -> tuple[str, ...]:
    if not isinstance(node.value, list):
        raise _Unfit("a list of folders")
    return tuple(_folder(child) for child in node.value)


_ROOT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)


def _roots(node: Node) -> dict[str, str]:
    if not isinstance(node.value, dict):
        raise _Unfit("a mapping of names to folders")
    for name in node.value:
        if not _ROOT_NAME.fullmatch(name):
            raise _Unfit("named with letters, digits, - and _", _at(node, node.keys[name]))
    return {name: _folder(child) for name, child in node.value.items()}


def _at(node: Node, where: Place) -> Node:
    return replace(node, place=where)


def _bind(node: Node) -> str:
    host, colon, port = _text(node).rpartition(":")
    if host and colon and port.isdecimal() and port.isascii() and int(port) <= 65535:
        return f"{host}:{port}"
    raise _Unfit("an address and a port such as 127.0.0.1:8765")


def _version(node: Node) -> int:
    if node.value == 1 and not isinstance(node.value, bool | float):
        return 1
    raise _Unfit("1: this is the only version there is")


_TOP: Mapping[str, _Check] = {
    "version": _version,
    "roots": _roots,
    "layout": _any,
    "runtime": _any,
    "watch": _any,
    "audit": _any,
    "mcp_server": _any,
}
_FOLDERS: Mapping[str, _Check] = dict.fromkeys(
    ("manifests", "scripts", "schemas", "policies", "adapters", "skills", "plugins"), _folders
)
_RUNTIME: Mapping[str, _Check] = {
    "mode": _one_of(RuntimeMode),
    "hot_reload": _switch,
    "max_live_generations": _number(2, 16),
    "shutdown_timeout_ms": _number(0, 600_000),
    "health_interval_s": _number(1, 86_400),
}
_WATCH: Mapping[str, _Check] = {
    "debounce_ms": _number(1, 10_000),
    "rescan_s": _number(1, 86_400),
    "polling": _polling,
}
_AUDIT: Mapping[str, _Check] = {
    "mode": _one_of(AuditMode),
    "rotate_bytes": _number(65_536, 1 << 30),
    "keep_files": _number(1, 10_000),
}
_MCP_SERVER: Mapping[str, _Check] = {"bind": _bind, "allowed_origins": _texts, "allowed_hosts": _texts}
