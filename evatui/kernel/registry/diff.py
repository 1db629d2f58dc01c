"""What differs between two versions of a capability: files by digest, manifest fields by value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evatui.kernel.admission.manifest import values_of
from evatui.kernel.admission.redact import veiled
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.workspace.snapshot import Snapshot

__all__ = ["difference", "field_differences", "file_differences"]


def difference(before: Candidate | None, after: Candidate) -> dict[str, Any]:
    """``{"files": [{path, from, to}], "fields": [{path, from, to}]}``; ``from`` or ``to`` is None where absent."""
    if before is None:
        return {}
    return {
        "files": list(file_differences(before.snapshot, after.snapshot)),
        "fields": list(field_differences(before.snapshot, after.snapshot)),
    }


def file_differences(before: Snapshot, after: Snapshot) -> Iterator[dict[str, Any]]:
    """The files whose digests differ, or that only one of both names."""
    old = {path: file.digest for path, file in before.files.items()}
    new = {path: file.digest for path, file in after.files.items()}
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            yield {"path": path, "from": old.get(path), "to": new.get(path)}


def field_differences(before: Snapshot, after: Snapshot) -> Iterator[dict[str, Any]]:
    """The single values in which two manifests, defaults filled in, differ; secrets are not shown."""
    old, new = dict(_flat(values_of(before.document))), dict(_flat(values_of(after.document)))
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            key = path.rpartition(".")[2]
            yield {
                "path": path,
                "from": veiled({key: old.get(path)})[key],
                "to": veiled({key: new.get(path)})[key],
            }


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, entry in value.items():
        if isinstance(entry, Mapping) and entry:
            yield from _flat(entry, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", entry
