"""When may opening a device be tried again that failed?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from evatui.hardware.hotplug import Hotplug
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind

__all__ = ["LeftAlone", "Patience"]


class LeftAlone(Trouble):
    """It was not tried at all."""


@dataclass(slots=True)
class Patience:
    """Of one device. ``generation`` is the connection that the failures are of: one that was plugged in anew begins
    anew."""

    failures: int = 0
    generation: int = 0
    not_before: float = 0.0

    def check(self, hotplug: Hotplug, generation: int, now: float) -> None:
        """Raises `Trouble` ``DeviceOpenFailed`` where it is to be left alone."""
        if generation != self.generation:
            return
        if hotplug.is_over(self.failures):
            message = (
                f"opening the device failed {self.failures} times in a row; eva hardware rescan has it tried again"
            )
            raise LeftAlone(ErrorKind.DEVICE_OPEN_FAILED, message)
        if now < self.not_before:
            left_ms = round((self.not_before - now) * 1000)
            message = f"opening the device failed just now; the next attempt is in {left_ms} ms"
            raise LeftAlone(ErrorKind.DEVICE_OPEN_FAILED, message, retryable=True, retry_after_ms=left_ms)

    def failed(self, hotplug: Hotplug, generation: int, now: float) -> None:
        if generation != self.generation:
            self.failures, self.generation = 0, generation
        self.not_before = now + hotplug.wait_s(self.failures) * random.uniform(0.8, 1.2)
        self.failures += 1

    def forget(self) -> None:
        self.failures, self.not_before = 0, 0.0
