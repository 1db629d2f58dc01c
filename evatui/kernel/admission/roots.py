"""The roots of a version: the folders that stand behind the names in its permissions.

``eva.yaml`` says so, not the manifest, so the same bytes may reach further from one start to the next. Therefore a
version carries where its roots lead, and one that leads to another folder is weighed like a wider permission.
"""

from __future__ import annotations

from collections.abc import Mapping

from evatui.kernel.admission.permission_diff import FieldChange
from evatui.kernel.model.change import Trend
from evatui.kernel.model.permissions import ALL, Permissions
from evatui.kernel.workspace.paths import HERE, is_under

__all__ = ["RootMap", "entries_of", "root_changes", "roots_used"]

RootMap = Mapping[str, str]
"""Folders by the name of their root. The one that every workspace has, ``workspace``, is left out where it leads
where it does by default."""

_DEFAULT: RootMap = {"workspace": HERE}


def roots_used(permissions: Permissions, defined: RootMap) -> RootMap:
    """Those of ``defined`` that ``permissions`` name."""
    return {
        name: folder
        for name, folder in defined.items()
        if _DEFAULT.get(name) != folder
        and (entries_of(permissions.fs.read, name) or entries_of(permissions.fs.write, name))
    }


def entries_of(entries: tuple[str, ...], root: str) -> tuple[str, ...]:
    """Those of the ``entries`` of a permission that lead into a root."""
    return tuple(entry for entry in entries if entry.partition("/")[0] in (ALL, root))


def root_changes(permissions: Permissions, before: RootMap, after: RootMap) -> tuple[FieldChange, ...]:
    """The roots that a version with ``permissions`` had, and that lead elsewhere by now.

    Wider is any folder that does not lie in the one of before.
    """
    return tuple(
        _change(name, {**_DEFAULT, **before}.get(name), {**_DEFAULT, **after}.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
        if entries_of(permissions.fs.read, name) or entries_of(permissions.fs.write, name)
    )


def _change(name: str, before: str | None, after: str | None) -> FieldChange:
    was, now = _entries(before), _entries(after)
    gained = now if before is None or (after is not None and not is_under(before, after)) else ()
    lost = was if after is None or (before is not None and not is_under(after, before)) else ()
    trend = Trend.WIDENED if gained else Trend.NARROWED if lost else Trend.UNCHANGED
    return FieldChange(f"roots.{name}", trend, was, now, gained, lost)


def _entries(folder: str | None) -> tuple[str, ...]:
    return () if folder is None else (folder,)
