"""What a skill needs of the machine, and whether it is there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping

__all__ = ["Machine"]


class Machine:
    """One look: each program is searched for once. A variable that is set to nothing is set."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        folders = environment.get("PATH", os.defpath).split(os.pathsep)
        self._path = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))
        self._found: dict[str, bool] = {}

    def missing(self, bins: Iterable[str], env: Iterable[str]) -> tuple[str, ...]:
        """The programs and variables that are not there, by name."""
        return (
            *(name for name in bins if not self._has(name)),
            *(name for name in env if name not in self._environment),
        )

    def _has(self, program: str) -> bool:
        """Only a bare name is looked for: which other files there are is nobody's business."""
        if program not in self._found:
            bare = os.path.basename(program) == program
            self._found[program] = bare and shutil.which(program, path=self._path) is not None
        return self._found[program]
