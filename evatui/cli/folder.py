"""The name of a folder, as an option takes it. Apart from what else is given: help needs only this."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

__all__ = ["Folder"]


class Folder(click.Path):
    """A path; an empty one, as of a variable that is not set, is no name for the folder one is in."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("the name of a folder is empty", param, ctx)
        return super().convert(value, param, ctx)
