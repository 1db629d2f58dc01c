"""States in processes of their own: who starts them, what they may do, and how one talks to them.

Worker processes import this package without the room around it, so nothing is imported here.
"""

from __future__ import annotations

__all__: list[str] = []
