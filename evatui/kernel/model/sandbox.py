"""What this machine has to put around a worker process."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["NO_SANDBOX", "SandboxFacts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxFacts:
    """``process``: capabilities can run in worker processes here at all.

    ``os_sandbox``: a worker has no way to files and sockets, whatever it gets to execute. ``landlock_abi`` is 0
    where the kernel has no Landlock. ``missing`` names what is not there, each in a few words.
    """

    process: bool
    rlimits: bool
    landlock_abi: int
    seccomp: bool
    missing: tuple[str, ...]
    os_sandbox: bool

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "missing": list(self.missing)}


NO_SANDBOX = SandboxFacts(
    process=False, rlimits=False, landlock_abi=0, seccomp=False, missing=("worker processes",), os_sandbox=False
)
