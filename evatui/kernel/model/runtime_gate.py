"""In which runtimes a skill may run, and who may not call it there."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.model.call import CallerType
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import ErrorKind, failure

__all__ = ["RuntimeGate"]

_TEAM_MODES = ("team", "swarm", "ralph")


@dataclass(frozen=True, slots=True)
class RuntimeGate:
    """``disallow_team_worker`` keeps sub-agents out where the runtime is one of a team."""

    allowed_modes: tuple[str, ...] = ("normal",)
    disallow_team_worker: bool = True

    def check(self, skill: str, mode: str, caller: CallerType) -> None:
        """Raises ``PolicyDenied`` for a caller that may not pass, in a runtime of ``mode``."""
        if self.disallow_team_worker and caller is CallerType.SUBAGENT and mode in _TEAM_MODES:
            message = f"the runtime gate of {skill} keeps workers out in the mode {mode}"
            raise failure(ErrorKind.POLICY_DENIED, message, reason=Reason.RUNTIME_GATE_MISMATCH.value)
