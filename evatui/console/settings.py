"""What the console remembers of its user from one start to the next, and the keys they gave its actions."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from evatui.console.view.action import View
from evatui.console.view.keymap import FILE, KeymapError, read_keymap

__all__ = ["Settings", "load_keymap", "load_settings", "save_settings"]

_SETTINGS = "console.json"
_MAX_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Settings:
    """``sorts`` has, by view, the title of a column and whether it is turned round."""

    theme: str | None = None
    view: View | None = None
    sorts: Mapping[View, tuple[str, bool]] = field(default_factory=lambda: MappingProxyType({}))


def load_settings(folder: Path) -> Settings:
    """What is missing, broken or from another version is as if it had never been set. Blocking."""
    try:
        told = json.loads(_read(folder / _SETTINGS))
        return _settings(told) if isinstance(told, dict) else Settings()
    except (OSError, ValueError, RecursionError):
        return Settings()


def save_settings(folder: Path, settings: Settings) -> None:
    """Whoever reads meanwhile finds the old or the new ones, whole. What the disk refuses is not remembered."""
    told = {
        "theme": settings.theme,
        "view": settings.view,
        "sorts": {view: list(sort) for view, sort in settings.sorts.items()},
    }
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=folder, prefix=".console-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(told, file, indent=2)
                file.write("\n")
            os.replace(draft, folder / _SETTINGS)
        except OSError:
            os.unlink(draft)


def load_keymap(folder: Path) -> dict[str, str]:
    """Empty where there is no such file. Raises `KeymapError`. Blocking."""
    try:
        return read_keymap(_read(folder / FILE))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        raise KeymapError(f"{FILE}: it is no UTF-8 text") from None
    except OSError as problem:
        raise KeymapError(f"{FILE}: it cannot be read: {os.strerror(problem.errno or 0).lower()}") from None


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MAX_BYTES).decode()


def _settings(told: Mapping[str, Any]) -> Settings:
    theme, view, sorts = told.get("theme"), told.get("view"), told.get("sorts")
    known = set(View)
    return Settings(
        theme=theme if isinstance(theme, str) else None,
        view=View(view) if view in known else None,
        sorts={View(name): sort for name, given in _pairs(sorts) if name in known and (sort := _sort(given))},
    )


def _pairs(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _sort(given: object) -> tuple[str, bool] | None:
    match given:
        case [str(title), bool(reverse)]:
            return title, reverse
    return None
