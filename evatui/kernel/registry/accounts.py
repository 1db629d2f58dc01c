"""What was found of each version when it came: how far its change went, and what its examples answered."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

import orjson

from evatui.kernel.registry.plan import Change

__all__ = ["Accounts"]

_KEPT: Final = 200
_MAX_BYTES: Final = 65_536
"""Of the examples of one version; of more only the names are kept, and whether each held."""
_NAMED: Final = ("name", "path", "ok", "problem", "changed")


class Accounts:
    """Of the newest versions of this run, by the id of the generation."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def note(self, change: Change, generation: str) -> None:
        """Keeps what ``change``, which brought ``generation``, was judged to be."""
        ruling = change.ruling
        self._kept[generation] = {
            "change_class": change.change_class.value if change.change_class else None,
            "approved": ruling.approved if ruling is not None else False,
            "widened": [item.path for item in ruling.widened] if ruling is not None else [],
            "examples": _bounded([run.to_json() for run in change.tried.runs]),
        }
        self._kept.move_to_end(generation)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def of(self, generation: str) -> dict[str, Any] | None:
        """``{change_class, approved, widened, examples}``; None where it came in another run, or is too long ago."""
        return self._kept.get(generation)


def _bounded(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(orjson.dumps(runs, default=str)) <= _MAX_BYTES:
        return runs
    return [{name: run[name] for name in _NAMED} for run in runs]
