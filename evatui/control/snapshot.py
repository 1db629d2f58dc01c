"""The frozen state that a console paints: pulled whole, never pushed piecewise.

All text in it has been through `evatui.kernel.model.text`; views show it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from evatui.control.adapter_rows import AdapterRow
from evatui.control.client_sessions import ClientRow
from evatui.control.deciding import HeldRow, IdleRow, PermissionRow, TrustInfo
from evatui.control.extensions import Extensions
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.event import Event
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.progress import Progress

__all__ = [
    "AuditRow",
    "Beside",
    "CallRow",
    "CanaryRow",
    "CapabilityRow",
    "ConsoleSnapshot",
    "Cursor",
    "GenerationRow",
    "Indicator",
    "RejectionRow",
    "RuntimeInfo",
    "Side",
    "Transition",
]


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a console has read: the last event and the last audit record that it has."""

    events: int = 0
    audit: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Indicator:
    """The health of a part: ``word`` is what the header shows where it is not well, since ``since`` (RFC 3339)."""

    ok: bool
    word: str = ""
    detail: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeInfo:
    """``since`` is RFC 3339; ``workspace`` is the folder's name, never its whole path."""

    pid: int
    host: str
    workspace: str
    since: str
    mode: str
    attached: bool = False
    frozen: str = ""
    """Since when and by whom, empty where it is not."""
    mcp: str = ""
    """Where MCP clients reach it over HTTP, empty where they do not."""
    shutdown_timeout_ms: int = 15_000
    """How long calls in flight are waited for when the runtime ends."""
    consoles: tuple[str, ...] = ()
    """Who looks at it from other processes, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """An edge that a generation took. ``seq`` counts them; ``old`` is None for a new generation."""

    seq: int
    at: str
    id: str
    generation: str
    number: str
    old: State | None
    new: State
    actor: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRow:
    """``number`` is ``g41``; ``restorable``: a rollback can bring it back."""

    id: str
    number: str
    version: str
    state: State
    since: str
    digest: str
    in_flight: int = 0
    restorable: bool = False
    share: str = ""
    """Whose calls it takes, where it is not the only one that serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one of two versions did within the window; ``p95_ms`` is None without calls.

    ``lower`` and ``upper`` are the rates of faults between which its own certainly lies.
    """

    samples: int = 0
    faults: int = 0
    p95_ms: float | None = None
    lower: float = 0.0
    upper: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryRow:
    """The version that is tried out.

    ``phase`` is ``running``, ``paused`` or ``held``; ``verdict`` is ``pass``, ``fail``, ``inconclusive`` or
    ``insufficient_data``; ``takes`` says whose calls; ``at_deadline`` what is done then.
    It passes with ``min_samples`` calls within ``window_s`` where it certainly fails less than ``max_error_rate``.
    """

    generation: str
    number: str
    version: str
    phase: str
    verdict: str
    takes: str
    canary: Side
    baseline: Side
    at_deadline: str
    seconds_left: float | None = None
    min_samples: int = 0
    max_error_rate: float = 0.0
    window_s: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What lives beside the serving generation.

    ``what`` is ``canary`` (``canary`` has its numbers, ``seconds_left`` until its deadline while that runs),
    ``draining`` (``calls`` left, ``seconds_left`` at the time of the snapshot),
    ``refused`` (``code``, ``place``) or ``held`` (``waits_for`` as in `HeldRow`).
    """

    what: str
    number: str = ""
    calls: int = 0
    seconds_left: float | None = None
    code: str = ""
    place: str = ""
    waits_for: str = ""
    canary: CanaryRow | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityRow:
    """One line of the registry. ``generation`` and ``number`` are the serving one's, None where none serves."""

    id: str
    name: str
    description: str
    kind: str
    version: str
    enabled: bool
    priority: int
    capabilities: tuple[str, ...]
    state: State
    since: str
    generation: str | None = None
    number: str | None = None
    marks: tuple[str, ...] = ()
    isolation: str = ""
    """Where new calls run: ``in_process`` or ``process``, empty where nothing serves."""
    isolation_why: str = ""
    in_flight: int = 0
    queued: int = 0
    calls: int = 0
    errors: int = 0
    reason: str = ""
    on_disk: str = "same"
    side_effects: str = "none"
    drain_timeout_ms: int = 10_000
    """How long calls are waited for when a version leaves; then they are cut."""
    path: str = ""
    script: str = ""
    beside: tuple[Beside, ...] = ()
    permissions: tuple[PermissionRow, ...] = ()
    """What it asks for, entry by entry."""
    behind: tuple[str, ...] = ()
    """Names that another one answers before it: ``repo.summary: other``."""
    before: tuple[str, ...] = ()
    """Names that it answers before others."""
    generations: tuple[GenerationRow, ...] = ()
    """Newest first; those of earlier runs only where a rollback can bring them back."""
    trail: tuple[Transition, ...] = ()
    """Its own last transitions, oldest first, at most 12."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionRow:
    """``key`` is the id, or the path where the file has no usable one; ``serving`` the generation in force."""

    key: str
    id: str | None
    path: str
    at: str
    digest: str
    serving: str | None
    diagnostics: tuple[Diagnostic, ...]
    against: str = ""
    """The generation that served when it was refused, and that ``difference`` holds it against."""
    difference: tuple[str, ...] = ()
    """In lines, as a unified diff; of a long one only the beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """A call in flight, at the time of the snapshot."""

    request_id: str
    capability_id: str
    generation: str
    number: str
    caller: str
    started_at: str
    elapsed_ms: float
    deadline_ms: float
    host_call: str = ""
    queued: bool = False
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """An audit record as a line; ``record`` is the whole of it."""

    seq: int
    at: str
    code: str
    outcome: str
    actor: str
    capability_id: str
    capability: str
    generation: str
    request_id: str
    duration_us: int
    error_kind: str
    record: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSnapshot:
    """``counts`` are generations per state; a number that is not known is None."""

    at: str
    runtime: RuntimeInfo
    cursor: Cursor
    counts: Mapping[State, int]
    capabilities: tuple[CapabilityRow, ...]
    rejections: tuple[RejectionRow, ...]
    calls: tuple[CallRow, ...]
    transitions: tuple[Transition, ...]
    """The newest of all capabilities, oldest first, at most 50."""
    events: tuple[Event, ...]
    audit: tuple[AuditRow, ...]
    dropped: int
    """Events and audit rows that fell out of the rings before this console read them."""
    watch: Indicator
    health: Indicator
    """Of the audit sink."""
    manifests_in: tuple[str, ...] = ()
    """Where manifests are looked for, for the empty screen."""
    held: tuple[HeldRow, ...] = ()
    idle: tuple[IdleRow, ...] = ()
    """At most 200."""
    trust: TrustInfo = TrustInfo()
    extensions: Extensions = Extensions()
    standing: Indicator = Indicator(ok=True)
    """Of the runtime itself: ``restarting``, or ``down`` where it could not be built anew; the rest is what was."""
    clients: tuple[ClientRow, ...] = ()
    """Of the MCP server, the one that came first first."""
    devices: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """As ``hardware.list`` answers; empty as long as nobody has looked for any."""
    adapters: tuple[AdapterRow, ...] = ()
    """What answers besides Lua, by id."""
