"""The schemas of adapters: read as one with all that they refer to, and compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evatui.kernel.admission.closure import schema_at
from evatui.kernel.admission.report import Fault, Report
from evatui.kernel.admission.schema_shelf import Shelf
from evatui.kernel.model.adapter import Contract
from evatui.kernel.model.diagnostic import Diagnostic, Level
from evatui.kernel.workspace.files import FileProblem, SourceFile
from evatui.kernel.workspace.paths import InvalidPath, normal
from evatui.kernel.workspace.schema_references import referred_by, referred_in

__all__ = ["Schemas", "contracts", "read_schemas"]

_MOST = 128


@dataclass(frozen=True, slots=True)
class Schemas:
    """By the path as the manifest writes it; ``shelf`` is what they may refer to."""

    files: Mapping[str, SourceFile]
    missing: Mapping[str, FileProblem]
    shelf: Shelf

    @property
    def paths(self) -> tuple[str, ...]:
        return (*self.files, *self.missing)


def read_schemas(
    manifests: Sequence[Mapping[str, Any]], read: Callable[[Sequence[str]], Sequence[SourceFile | FileProblem]]
) -> Schemas:
    files: dict[str, SourceFile] = {}
    missing: dict[str, FileProblem] = {}
    wanted = list(dict.fromkeys(path for raw in manifests for path in _named(raw)))
    while wanted and len(files) + len(missing) < _MOST:
        batch = wanted[: _MOST - len(files) - len(missing)]
        referred: list[str] = []
        for path, source in zip(batch, read(batch), strict=True):
            if isinstance(source, FileProblem):
                missing[path] = source
            else:
                files[path] = source
                referred += referred_in(source.data, source.path)
        wanted = [path for path in dict.fromkeys(referred) if path not in files and path not in missing]
    return Schemas(files, missing, Shelf({_normal(path): file for path, file in files.items()}, missing))


def contracts(
    raw: Mapping[str, Any], schemas: Schemas, report: Report, found: list[Diagnostic]
) -> Mapping[str, Contract] | None:
    """By capability name; None where one of them cannot be used. What is wrong in the files goes to ``found``."""
    agreed: dict[str, Contract] = {}
    sound = True
    for name, pair in raw.get("schemas", {}).items():
        sides = []
        for side in ("input", "output"):
            if side not in pair:
                continue
            at = ("schemas", name, side)
            compiled, wrong = schema_at(
                pair[side], at, schemas.files, schemas.missing, schemas.shelf, report, side == "input"
            )
            found += [one for one in wrong if one not in found]
            sound = sound and not any(one.level is Level.ERROR for one in wrong)
            if compiled is not None:
                sides.append(compiled)
        if len(sides) == 2:
            agreed[name] = Contract(*sides)
    for name in raw.get("schemas", {}):
        if name not in (*raw.get("capabilities", ()), *((raw.get("mcp") or {}).get("aliases") or ())):
            report.fault(Fault.MISPLACED, f"schemas: {name} is none of its capabilities", ("schemas", name), key=True)
    return agreed if sound else None


def _named(raw: Mapping[str, Any]) -> Iterator[str]:
    for pair in raw.get("schemas", {}).values():
        for schema in pair.values():
            if isinstance(schema, str):
                yield schema
            else:
                yield from referred_by(schema)


def _normal(path: str) -> str:
    try:
        return normal(path)
    except InvalidPath:
        return path
