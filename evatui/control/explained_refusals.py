"""Why manifests were refused: those in force, and those of earlier that are still known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.naming import known
from evatui.control.refusals import rejection_rows
from evatui.control.snapshot import RejectionRow
from evatui.control.waiting import waiting
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.refusals import ALIKE, Difference, Told
from evatui.kernel.storage.database import StorageError
from evatui.runtime import Runtime

__all__ = ["explained"]

_EARLIER = 20


async def explained(runtime: Runtime, wanted: str | None, digest: str | None) -> dict[str, Any]:
    """``{rejections, earlier, held}``; ``wanted`` is an id or a path, ``digest`` the beginning of one.

    ``rejections`` are those in force, and where something is wanted those of earlier as well, the newest first;
    ``earlier`` names the newest of the others. Raises `CommandFailed` ``NotFound`` for an id or a digest that is
    not known.
    """
    rows = rejection_rows(runtime)
    try:
        kept = await runtime.refusals.kept(wanted)
    except StorageError:  # what is in force is known all the same
        kept = []
    now = {(row.path, row.digest): row for row in rows}
    differences = {(told.path, told.digest): told.difference for told in kept}
    past = [told for told in kept if (told.path, told.digest) not in now]
    shown = [
        _in_force(runtime, row, differences.get((row.path, row.digest), ALIKE))
        for row in rows
        if wanted is None or wanted in (row.id, row.key, row.path)
    ]
    chosen = wanted is not None or digest is not None
    if chosen:
        shown += [_past(told, _serving(runtime, told.id)) for told in past]
    if digest is not None:
        shown = [entry for entry in shown if entry["digest"] and entry["digest"].startswith(digest.lower())]
    held = [held for held in waiting(runtime) if wanted is None or wanted in (held["id"], held["path"])]
    if not shown and not (held and digest is None):
        _check_known(runtime, wanted, digest)
    return {"rejections": shown, "earlier": [] if chosen else _named(past), "held": held}


def _check_known(runtime: Runtime, wanted: str | None, digest: str | None) -> None:
    """A known id that is sound has no rejections; all else that leads nowhere is an error."""
    if digest is not None:
        what = f"no refusal with the digest {clean_line(digest, 64)} is known"
        raise CommandFailed(ErrorKind.NOT_FOUND, what, suggestion="eva capability explain-rejected")
    if wanted is not None:
        known(runtime, wanted)


def _in_force(runtime: Runtime, row: RejectionRow, difference: Difference) -> dict[str, Any]:
    """``key`` is the id that the file spoke for before, where it has no usable one now, or its path."""
    return {
        "id": row.id,
        "key": row.key,
        "path": row.path,
        "digest": row.digest,
        "at": row.at,
        "in_force": True,
        "serving": row.serving or _serving(runtime, row.id),
        **_difference(difference),
        "diagnostics": [diagnostic.to_json() for diagnostic in row.diagnostics],
    }


def _past(told: Told, serving: str | None) -> dict[str, Any]:
    return {
        "id": told.id,
        "key": told.id or told.path,
        "path": told.path,
        "digest": told.digest,
        "at": told.at,
        "in_force": False,
        "serving": serving,
        **_difference(told.difference),
        "diagnostics": list(told.diagnostics),
    }


def _difference(difference: Difference) -> dict[str, Any]:
    """``against`` is the generation that served when these bytes were refused, None where none did."""
    return {
        "against": difference.against or None,
        "difference": list(difference.fields),
        "diff": difference.text,
    }


def _named(past: Iterable[Told]) -> list[dict[str, Any]]:
    named = [
        {"id": told.id, "path": told.path, "digest": told.digest, "at": told.at, "summary": told.summary}
        for told in past
    ]
    return named[:_EARLIER]


def _serving(runtime: Runtime, capability_id: str | None) -> str | None:
    capability = runtime.registry.capabilities.get(capability_id or "")
    return capability.active.name.short if capability is not None and capability.active is not None else None
