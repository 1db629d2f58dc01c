"""One generation of a capability, from its first validation to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.lua.engine import LoadedProgram
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.permissions import covers_name
from evatui.kernel.registry.occupancy import Occupancy
from evatui.kernel.registry.rollout.tally import Tally

__all__ = ["Generation", "GenerationId", "may_call"]


@dataclass(frozen=True, slots=True)
class GenerationId:
    """``id`` is ``<id>@<version>+build.<date>.<n>``; ``number`` counts per workspace and is shown as ``g41``."""

    id: str
    number: int

    @property
    def short(self) -> str:
        return f"g{self.number}"


@dataclass(slots=True, weakref_slot=True, eq=False)
class Generation:
    """A loaded version. Used on the kernel's loop only.

    It holds the only reference to its Lua states: once drained and dropped, they are freed. ``ailment`` is what its
    last health check found wrong.
    """

    name: GenerationId
    candidate: Candidate
    program: LoadedProgram
    state: State
    since: str
    tally: Tally = field(default_factory=Tally)
    drain_deadline: float | None = None
    ailment: Rejection | None = None
    inside: Occupancy = field(default_factory=Occupancy)
    """The calls that are on it."""
    identity: Mapping[str, str] = field(init=False)
    """As each of its calls is written down."""

    def __post_init__(self) -> None:
        self.identity = {
            "generation": self.name.id,
            "script_digest": self.candidate.script_digest,
            "manifest_digest": self.candidate.snapshot.manifest.digest,
        }

    @property
    def manifest(self) -> Manifest:
        return self.candidate.manifest

    @property
    def digest(self) -> str:
        return self.candidate.snapshot.digest

    @property
    def in_flight(self) -> int:
        return self.inside.count


def may_call(caller: Generation, called: Generation) -> bool:
    """Does the manifest of the one ask for a name that the other provides?"""
    asked = caller.manifest.permissions.adapters.capabilities
    return any(covers_name(pattern, name) for pattern in asked for name in called.manifest.provides)
