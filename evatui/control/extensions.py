"""Rows of what extends agents: skills and plugins, the layers that they lie in, and files that would be some."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.model.diagnostic import Diagnostic

__all__ = [
    "Extensions",
    "LayerRow",
    "PluginHookRow",
    "PluginRow",
    "PluginTaskRow",
    "PluginToolRow",
    "RefusedRow",
    "SkillRow",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRow:
    """What a name stands for.

    ``reason`` says why it cannot be used, empty where it can: ``missing`` (programs and variables, by name, in
    ``missing``), ``policy_denied``, or ``runtime_worker``. ``shadows`` are the locations of lower ones of that name.
    """

    name: str
    description: str
    version: str
    kind: str
    available: bool
    reason: str
    missing: tuple[str, ...]
    layer: str
    location: str
    always: bool
    tools: bool
    shadows: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def key(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRow:
    """A file or a folder that would be a ``kind``, ``skill`` or ``plugin``. ``instead`` is the location of what goes by
    its name, empty where nothing does."""

    kind: str
    path: str
    layer: str
    instead: str
    diagnostics: tuple[Diagnostic, ...]

    @property
    def key(self) -> str:
        return self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRow:
    """``kind`` is ``user``, ``parent``, ``project``, ``extra`` or ``builtin``.

    ``skills`` counts the skills in it, or the plugins, shadowed ones too; ``allowed``: the policy lets them be used.
    """

    name: str
    kind: str
    folder: str
    allowed: bool
    skills: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginToolRow:
    """``capability`` is the name that it is called by. ``by_hand``: its ``risk`` lets only a person call it;
    ``background``: it answers at once, and ends later."""

    name: str
    capability: str
    description: str
    risk: str
    by_hand: bool
    background: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginHookRow:
    """``state`` is ``armed``, ``disabled`` after three failures in a row, ``never fired`` where its event does not come
    here, or ``off`` while its plugin does not serve. ``tools`` are patterns, none for all."""

    event: str
    command: str
    tools: tuple[str, ...]
    state: str
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRow:
    """What a name stands for.

    ``signed`` is ``signed``, ``unsigned`` or ``unknown_key``. ``state`` says how its provider stands, ``held`` where it
    waits for trust, and is empty where there is none; ``reason`` why it cannot be used at all, empty where it can:
    ``missing`` (in ``missing``, in words), ``policy_denied`` or ``signature_invalid``. ``stale``: the disk holds
    something that is refused by now, and this goes on. ``servers`` is how many MCP servers it brings
    along.
    """

    name: str
    description: str
    version: str
    kind: str
    signed: str
    key_id: str
    state: str
    detail: str
    available: bool
    reason: str
    missing: tuple[str, ...]
    layer: str
    location: str
    digest: str
    tools: tuple[PluginToolRow, ...]
    hooks: tuple[PluginHookRow, ...]
    servers: int
    network: bool
    stale: bool
    shadows: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def key(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginTaskRow:
    """A tool in the background. ``state`` is ``running``, ``done``, ``failed`` or ``cancelled``; ``fraction`` is from 0
    to 1, None where nobody knows; ``began`` and ``ended`` are RFC 3339, ``ended`` empty while it runs."""

    handle: str
    plugin: str
    version: str
    tool: str
    state: str
    fraction: float | None
    message: str
    began: str
    ended: str
    error: str

    @property
    def key(self) -> str:
        return self.handle


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    """``skills`` and ``plugins`` by name, ``layers`` (of skills) and ``plugin_layers`` from the highest to the lowest,
    ``tasks`` the newest first; ``problems`` are those of whole layers."""

    skills: tuple[SkillRow, ...] = ()
    refused: tuple[RefusedRow, ...] = ()
    layers: tuple[LayerRow, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    plugins: tuple[PluginRow, ...] = ()
    plugin_layers: tuple[LayerRow, ...] = ()
    tasks: tuple[PluginTaskRow, ...] = ()
