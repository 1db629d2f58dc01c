"""All that the registry knows of one capability id."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.model.lifecycle import State, capability_state
from evatui.kernel.registry.conduct import Conduct
from evatui.kernel.registry.generation import Generation, GenerationId
from evatui.kernel.registry.limiter import Limiter
from evatui.kernel.registry.retention import Kept, retained
from evatui.kernel.registry.rollout.rollout import Rollout
from evatui.kernel.registry.rollout.trial import Trial
from evatui.kernel.registry.ruling import Ruling
from evatui.kernel.storage.history import Hold

__all__ = ["Attempt", "Capability", "Past", "Remembered"]

_KEPT_PAST = 20


@dataclass(slots=True)
class Attempt:
    """A version that does not serve: on its way in, refused, switched off, or held: ``ruling`` says for what.

    ``digest`` is that of a version that is held.
    """

    state: State
    since: str
    name: GenerationId | None = None
    digest: str = ""
    ruling: Ruling | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is known of an id from earlier runs."""

    hold: Hold | None = None
    kept: tuple[Kept, ...] = ()
    pinned: str = ""
    quarantined: frozenset[str] = frozenset()
    deadly: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Past:
    """A generation that ended."""

    name: GenerationId
    version: str
    digest: str
    ended: str


@dataclass(slots=True, eq=False)
class Capability:
    """``path`` is its manifest; ``candidate`` the newest sound version seen, served or not.

    ``again``: the version was refused for no fault of its own, and the next look tries it again.
    ``kept``: what served, as `retained` has it, also what serves now; it outlives a restart.
    ``outlived``: what was kept until a later one came, and is not let go of yet.
    ``pinned``: the digest that a person went back to last.
    ``deadly``: digests of which runtimes died, while they were new.
    ``quarantined``: digests that the disk may hold without their being served, and `ABSENT` where it need not hold any.
    ``rollout``: the version that is tried out beside ``active``; ``trial``: ``active`` is new, and watched.
    ``denied``: it served or rested when the policy began to refuse its id, and is switched off until that ends.
    """

    id: str
    limiter: Limiter
    path: str
    since: str
    active: Generation | None = None
    rollout: Rollout | None = None
    trial: Trial | None = None
    draining: list[Generation] = field(default_factory=list)
    attempt: Attempt | None = None
    parked: Attempt | None = None
    parked_digest: str = ""
    candidate: Candidate | None = None
    rejection: Rejection | None = None
    rejected_at: str = ""
    again: bool = False
    denied: bool = False
    disk_digest: str = ""
    unapplied: str = ""
    """``changed`` or ``missing``: how the disk stands where only what somebody orders is applied."""
    kept: tuple[Kept, ...] = ()
    outlived: list[Kept] = field(default_factory=list)
    pinned: str = ""
    past: deque[Past] = field(default_factory=lambda: deque(maxlen=_KEPT_PAST))
    quarantined: set[str] = field(default_factory=set)
    deadly: frozenset[str] = frozenset()
    hold: Hold | None = None
    gone: bool = False
    calls: int = 0
    errors: int = 0
    conduct: Conduct = field(default_factory=Conduct)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    wanted: int = 0
    room: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def state(self) -> State:
        resting = [slot.state for slot in (self.parked, self.attempt) if slot is not None]
        live = [State.DRAINING] * len(self.draining) + [State.ACTIVE] * len(self.serving)
        return capability_state([*live, *resting])

    @property
    def canary(self) -> Generation | None:
        """The generation that is tried out beside ``active``."""
        return self.rollout.generation if self.rollout is not None else None

    @property
    def serving(self) -> tuple[Generation, ...]:
        """What takes calls: ``active``, then the canary."""
        return tuple(generation for generation in (self.active, self.canary) if generation is not None)

    def serves_as(self, name: str) -> bool:
        """Does the generation with this id or number serve, or is it tried out?"""
        return any(name in (serving.name.id, serving.name.short) for serving in self.serving)

    @property
    def generations(self) -> tuple[Generation, ...]:
        """Those that hold Lua states: what drains, then what serves."""
        return (*self.draining, *self.serving)

    @property
    def held(self) -> Attempt | None:
        """The version that waits for a person, if one does."""
        return self.attempt if self.attempt is not None and self.attempt.ruling is not None else None

    @property
    def live(self) -> int:
        """Generations that hold Lua states."""
        return len(self.generations)

    @property
    def in_flight(self) -> int:
        return sum(generation.in_flight for generation in self.generations)

    def keep(self, generation: Generation) -> None:
        """It goes into service, and can be brought back from now on."""
        manifest = generation.manifest
        new = Kept(generation.name, manifest.version, generation.digest, generation.since, manifest.state_schema)
        served = [new, *(kept for kept in self.kept if kept.digest != new.digest)]
        self.kept = tuple(retained(served, self.quarantined, self.pinned))
        self.outlived = [one for one in (*self.outlived, *served) if one not in self.kept and one.digest != new.digest]
