"""Numbers that JSON does not have, and that some of its readers make all the same: of ``1e999``, and of ``NaN``."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["is_endless"]


def is_endless(value: Any) -> bool:
    """Is any number in it not finite? Writers of JSON make null of it, or no JSON."""
    if isinstance(value, float):
        return not math.isfinite(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return any(map(is_endless, inner))
