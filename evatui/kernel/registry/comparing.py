"""Two generations of one capability held against each other, also those of earlier runs."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import Any

from evatui.kernel.admission.manifest import read_manifest
from evatui.kernel.admission.permission_diff import limit_changes, permission_changes
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.accounts import Accounts
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.diff import field_differences, file_differences
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.keeping import Keeping
from evatui.kernel.registry.line_diff import MAX_COMPARED, file_diffs
from evatui.kernel.registry.retention import Kept
from evatui.kernel.registry.text_diff import diff_text
from evatui.kernel.storage.content_store import ContentLost
from evatui.kernel.workspace.snapshot import Snapshot

__all__ = ["DISK", "compared"]

DISK = "disk"
"""In place of a generation: the newest sound version that the disk holds."""


@dataclass(frozen=True, slots=True)
class _Version:
    name: str
    snapshot: Snapshot
    manifest: Manifest
    generation: str = ""


async def compared(
    keeping: Keeping, capability: Capability, old: str | None, new: str | None, accounts: Accounts
) -> dict[str, Any]:
    """``{id, from, to, fields, files, permissions, text, lines, account}``: by default what served before against what
    serves.

    A generation is named by its id or its number, or is `DISK`. ``permissions`` are those that the manifests ask for;
    ``text`` is a unified diff without secrets, ``lines`` the same at greater length, file by file: ``[{path, change,
    lines: [[mark, old, new, text]]}]``. ``account`` is what `Accounts.of` has of the newer one. Raises `CallFailed`
    ``NotFound`` for one that is not kept, ``Conflict`` for one that cannot be read any more.
    """
    kept = list(capability.kept)
    after = await _version(keeping, capability, new or _default(capability, kept, 0))
    before = await _version(keeping, capability, old or _default(capability, kept, 1))
    told = await asyncio.to_thread(_told, before, after)
    return {"id": capability.id, **told, "account": accounts.of(after.generation)}


def _told(before: _Version, after: _Version) -> dict[str, Any]:
    changes = permission_changes(before.manifest.permissions, after.manifest.permissions)
    limits = limit_changes(asdict(before.manifest.limits), asdict(after.manifest.limits))
    diffs = list(file_diffs(before.snapshot, after.snapshot, MAX_COMPARED))
    moved = [change for change in changes if change.gained or change.lost]
    return {
        "from": before.name,
        "to": after.name,
        "fields": list(field_differences(before.snapshot, after.snapshot)),
        "files": list(file_differences(before.snapshot, after.snapshot)),
        "permissions": [change.to_json() for change in (*moved, *limits)],
        "text": diff_text(diffs),
        "lines": [diff.to_json() for diff in diffs],
    }


def _default(capability: Capability, kept: list[Kept], position: int) -> str:
    if position >= len(kept):
        count = len(kept) or "no"
        message = f"{capability.id} has {count} kept generation{'s' * (count != 1)}; name two of them, or {DISK}"
        raise failure(ErrorKind.NOT_FOUND, message)
    return kept[position].name.id


async def _version(keeping: Keeping, capability: Capability, wanted: str) -> _Version:
    if wanted == DISK:
        if capability.candidate is None:
            raise failure(ErrorKind.NOT_FOUND, f"the disk holds no sound version of {capability.id}")
        return _Version(DISK, capability.candidate.snapshot, capability.candidate.manifest)
    for generation in capability.generations:
        if _is(generation.name, wanted):
            return _Version(
                generation.name.short, generation.candidate.snapshot, generation.manifest, generation.name.id
            )
    held, waiting = capability.held, capability.candidate
    if held is not None and held.name is not None and waiting is not None and _is(held.name, wanted):
        return _Version(held.name.short, waiting.snapshot, waiting.manifest, held.name.id)
    kept = await keeping.named(capability, wanted)
    if kept is not None:
        return await asyncio.to_thread(_kept, keeping, capability, kept)
    known = ", ".join(one.name.short for one in capability.kept) or "none"
    raise failure(ErrorKind.NOT_FOUND, f"{capability.id} has no {clean_line(wanted, 160)}; kept: {known}")


def _kept(keeping: Keeping, capability: Capability, kept: Kept) -> _Version:
    try:
        snapshot = keeping.load(kept)
    except ContentLost as lost:
        raise failure(ErrorKind.CONFLICT, f"{kept.name.short} of {capability.id} cannot be read: {lost}") from None
    manifest = read_manifest(snapshot.document).manifest if snapshot.document is not None else None
    if manifest is None:
        message = f"{kept.name.short} of {capability.id} is no manifest that this version of evatui understands"
        raise failure(ErrorKind.CONFLICT, message)
    return _Version(kept.name.short, snapshot, manifest, kept.name.id)


def _is(name: GenerationId, wanted: str) -> bool:
    return wanted in (name.id, name.short)
