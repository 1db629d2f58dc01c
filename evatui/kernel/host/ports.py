"""The ways out of the kernel: what the rooms outside do for it. It decides, they only carry out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evatui.kernel.host.credentials import Credentials
from evatui.kernel.host.urls import Url
from evatui.kernel.model.address import Reach

__all__ = ["Command", "Exchange", "Finished", "HttpPort", "Outside", "ProcessPort", "Reply"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request that gets one answer. ``headers`` are all but those that describe the message or the connection.

    Every address that the host has must be as far away as ``reach`` says, or none is dialled. The answer's body,
    unpacked, may have ``max_bytes``.
    """

    method: str
    url: Url
    headers: tuple[tuple[str, str], ...]
    body: bytes
    reach: Reach
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Reply:
    """Names of ``headers`` are lower case; ``body`` is unpacked."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class HttpPort(Protocol):
    async def send(self, exchange: Exchange) -> Reply:
        """Follows no redirect, keeps no cookie, asks no proxy, and waits as long as it is let.

        Raises `CallFailed`: ``PolicyDenied`` for an address that may not be dialled, ``Unavailable`` where nobody
        can be reached, ``InputTooLarge`` for an answer that is, ``HostError`` for one that cannot be understood
        and for a certificate that is not trusted.
        """


@dataclass(frozen=True, slots=True)
class Command:
    """``argv`` begins with a name to look up or an absolute path; ``max_bytes`` hold for each of the two outputs."""

    argv: tuple[str, ...]
    stdin: bytes
    folder: Path
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Finished:
    """``code`` is the exit status, or 128 and the number of the signal that ended it."""

    code: int
    stdout: bytes
    stderr: bytes


class ProcessPort(Protocol):
    async def run(self, command: Command) -> Finished:
        """Returns once the command and all that it started are gone; cancelled, it kills them first.

        Raises `CallFailed`: ``NotFound`` where there is no such program, ``PolicyDenied`` for one that lies in
        ``folder``, ``InputTooLarge`` for an output past its limit, ``Unavailable`` where the system cannot start it.
        """


@dataclass(frozen=True, slots=True)
class Outside:
    http: HttpPort
    processes: ProcessPort
    credentials: Credentials
