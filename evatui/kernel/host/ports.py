"""The ways out of the kernel: what the rooms outside do for it. It decides, they only carry out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from evatui.kernel.host.credentials import Credential, Credentials
from evatui.kernel.host.urls import Url
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.address import Reach
from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import CallError, CallFailed, ErrorKind
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.tools import Definition, ServerInfo

__all__ = [
    "AdapterPort",
    "Command",
    "Exchange",
    "Finished",
    "HttpPort",
    "Invocation",
    "NotSent",
    "Outside",
    "ProcessPort",
    "Reply",
    "Setting",
    "Way",
    "WayState",
]


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
    """``argv`` begins with a name to look up or an absolute path; ``max_bytes`` hold for each of the two outputs.

    ``program`` is the file that is run where nothing is to be looked up, ``environ`` takes the place of the clean
    environment, and ``hear`` gets what is written on the standard error while it is, on a thread of its own.
    """

    argv: tuple[str, ...]
    stdin: bytes
    folder: Path
    max_bytes: int
    program: str = ""
    environ: Mapping[str, str] | None = None
    hear: Callable[[bytes], None] | None = None


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
class Invocation:
    """One call of an adapter, which has ``left_s`` seconds; ``limit`` is how many bytes its answer may have. ``told``
    hears, on the loop, how far it has come; it must be cheap, must not raise."""

    capability: str
    payload: Any
    request_id: str
    trace_id: str
    caller: Actor
    left_s: float
    limit: int
    told: Callable[[Progress], None]


class NotSent(CallFailed):
    """The call ended before anything of it left: whatever it would have changed, another provider may be asked."""

    def __init__(self, kind: ErrorKind, message: str, *, retryable: bool = True, **details: Any) -> None:
        super().__init__(CallError(kind, message, retryable, None, details))


@dataclass(frozen=True, slots=True)
class WayState:
    """``word`` is ``idle`` before the first call, ``up``, ``starting`` or ``down``; ``detail`` says why not up."""

    word: str = "idle"
    detail: str = ""

    @property
    def ok(self) -> bool:
        return self.word != "down"


class Way(Protocol):
    """An adapter at work. Every method is for the kernel's loop, and none but ``invoke`` and ``close`` waits."""

    @property
    def state(self) -> WayState: ...

    @property
    def server(self) -> ServerInfo | None:
        """What an MCP server is like; None of anything else."""

    def target(self, invocation: Invocation) -> str:
        """What will be asked, as records name it; cleaned, and without secrets. Raises `NotSent` where the call is
        one that is never sent."""

    async def invoke(self, invocation: Invocation) -> Any:
        """The JSON-like answer. Raises `CallFailed`; `NotSent` where nothing was sent. May be cancelled, and then
        sees to it that what it asked for is given up."""

    async def probe(self) -> None:
        """Looks whether it can be reached, and what an MCP server offers by now. Raises `CallFailed`."""

    def adjust(self, adapter: Adapter) -> None:
        """Another manifest that leads to the same place."""

    def start(self) -> None:
        """Connects in the background and stays so, where there is something to stay connected to."""

    async def close(self) -> None:
        """Ends what it has started, and waits for that. What is under way fails."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a way has to work with. ``key`` is a credential by its name, which the policy must define now; it raises
    `CallFailed`. ``pinned`` are the approved definitions of tools, by name, ``taken`` the names, folded, that no tool
    from outside may have; ``tell`` emits an event below ``/mcp``."""

    root: Path
    key: Callable[[str], Credential]
    pinned: Callable[[], Mapping[str, Definition]]
    taken: Callable[[], frozenset[str]]
    tell: Callable[[str, Mapping[str, Any]], None]


class AdapterPort(Protocol):
    """Opens adapters of every transport. No IO."""

    def open(self, adapter: Adapter, setting: Setting) -> Way: ...


@dataclass(frozen=True, slots=True)
class Outside:
    http: HttpPort
    processes: ProcessPort
    credentials: Credentials
