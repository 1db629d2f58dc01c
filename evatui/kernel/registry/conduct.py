"""What the code of a capability did that speaks against it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from evatui.kernel.model.errors import ErrorKind

__all__ = ["Conduct"]


@dataclass(slots=True)
class Conduct:
    """What the code of one capability did in this runtime, over all its generations, since it was last forgiven.

    ``strikes`` counts by kind; ``INTERNAL`` stands for a thread that did not come back. ``demoted`` is when it was
    moved out of the process, ``stranded`` when it should have been and there was nowhere to go. Empty: it was not.
    """

    strikes: Counter[ErrorKind] = field(default_factory=Counter)
    last: str = ""
    demoted: str = ""
    stranded: str = ""

    @property
    def stuck(self) -> int:
        return self.strikes[ErrorKind.INTERNAL]
