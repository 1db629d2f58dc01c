"""What a capability asks for and what a policy grants: one vocabulary for both.

Absent is nothing, an empty list is nothing, only an explicit ``"*"`` is all.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.model.address import owns_its_name
from evatui.kernel.model.ids import fold
from evatui.kernel.model.topic import covers_pattern

__all__ = [
    "ALL",
    "NOTHING",
    "Adapters",
    "Events",
    "Files",
    "Network",
    "Permissions",
    "Shell",
    "covers_command",
    "covers_host",
    "covers_name",
    "covers_path",
    "covers_topic",
    "takes_name",
]

ALL = "*"


@dataclass(frozen=True, slots=True)
class Files:
    """Entries are ``root`` or ``root/sub/path``, or ``*``."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Network:
    """``hosts`` and ``methods``; a manifest's ``network: true`` is ``hosts=("*",)``. No hosts is no network."""

    hosts: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shell:
    """Fixed argv prefixes."""

    commands: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Adapters:
    """Capability names that may be called, and through which providers. No pattern gives what is ``denied``, in
    whatever case that is written."""

    capabilities: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()

    def allow(self, capability: str) -> bool:
        """May ``capability``, which is a name and no pattern, be called?"""
        given = any(covers_name(grant, capability) for grant in self.capabilities)
        return given and not any(takes_name(taken, capability) for taken in self.denied)


@dataclass(frozen=True, slots=True)
class Events:
    """Topic patterns that may be emitted."""

    emit: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Permissions:
    fs: Files = Files()
    network: Network = Network()
    shell: Shell = Shell()
    env: tuple[str, ...] = ()
    adapters: Adapters = Adapters()
    events: Events = Events()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = (self.fs, self.network, self.shell, self.env, self.adapters, self.events)
        object.__setattr__(self, "_hash", hash(parts))

    def __hash__(self) -> int:
        """Known from the start: decisions are looked up by permissions again and again."""
        return self._hash

    def to_json(self) -> dict[str, Any]:
        return {
            "fs": {"read": list(self.fs.read), "write": list(self.fs.write)},
            "network": {"hosts": list(self.network.hosts), "methods": list(self.network.methods)}
            if self.network.hosts
            else False,
            "shell": {"commands": [list(c) for c in self.shell.commands]} if self.shell.commands else False,
            "env": list(self.env),
            "adapters": {"capabilities": list(self.adapters.capabilities), "providers": list(self.adapters.providers)},
            "events": {"emit": list(self.events.emit)},
        }


NOTHING = Permissions()


def covers_path(grant: str, asked: str) -> bool:
    """Does the entry ``grant`` (``root`` or ``root/sub``) give all of ``asked``?"""
    return grant == ALL or asked == grant or asked.startswith(grant.rstrip("/") + "/")


def covers_name(grant: str, asked: str) -> bool:
    """Does the glob ``grant`` give ``asked``? An asked ``*`` (or any glob) is given only by ``*`` or itself."""
    if grant == ALL or grant == asked:
        return True
    return "*" not in asked and fnmatch.fnmatchcase(asked, grant)


def takes_name(taken: str, asked: str) -> bool:
    """Does the glob ``taken``, which is denied, cover the name ``asked``? Case makes no difference to that."""
    return covers_name(fold(taken), fold(asked))


def covers_host(grant: str, asked: str) -> bool:
    """Does the host or pattern ``grant`` give ``asked``? What names this machine or its network only itself gives.

    Case makes no difference. ``asked`` may be a pattern too, which a wider one gives.
    """
    grant, asked = grant.lower(), asked.lower()
    if owns_its_name(asked):
        return grant == asked
    return covers_name(grant, asked) or covers_name(grant, asked.replace(ALL, "\x01"))


def covers_command(grant: tuple[str, ...], asked: tuple[str, ...]) -> bool:
    """Does the command ``asked`` begin with the words of ``grant``?"""
    return bool(grant) and asked[: len(grant)] == grant


def covers_topic(grant: str, asked: str) -> bool:
    """Does the topic pattern ``grant`` give every topic of the pattern ``asked``?"""
    return grant == ALL or grant == asked or covers_pattern(grant, asked)
