"""A version that is new in service, watched until it has shown that it works. No clock of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.model.manifest import Manifest
from evatui.kernel.registry.rollout.judge import Counts, Limits, exceeds
from evatui.kernel.registry.rollout.tally import Window

__all__ = ["Rules", "Trial", "trial_of"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The block ``rollback`` of the policy."""

    window_s: int
    min_samples: int
    max_error_rate: float
    cooldown_s: int

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Rules:
        return cls(settings["window_s"], settings["min_samples"], settings["max_error_rate"], settings["cooldown_s"])


@dataclass(slots=True)
class Trial:
    """It ends well once a whole window has passed since ``began`` and enough calls in one did not fail too often."""

    rules: Rules
    began: float
    window: Window = field(init=False)

    def __post_init__(self) -> None:
        self.window = Window(self.rules.window_s)

    @property
    def _limits(self) -> Limits:
        return Limits(self.rules.min_samples, self.rules.max_error_rate)

    def failed(self, now: float) -> Counts | None:
        """The counts, where it fails too often."""
        counts = self.window.counts(now)
        return counts if exceeds(counts, self._limits) else None

    def passed(self, now: float) -> bool:
        if now - self.began < self.rules.window_s:
            return False
        counts = self.window.counts(now)
        return counts.samples >= self.rules.min_samples and not exceeds(counts, self._limits)


def trial_of(manifest: Manifest, settings: Mapping[str, Any], now: float) -> Trial | None:
    """For a version that goes into service now; ``settings`` are the policy's. None where it is never taken back."""
    return Trial(Rules.of(settings), now) if manifest.reload.rollback_on_failure else None
