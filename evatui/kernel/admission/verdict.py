"""What admission says of a snapshot: it may be loaded, or why not."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from evatui.kernel.admission.credentials import CredentialMap, told
from evatui.kernel.admission.report import MANIFEST_FAULTS, Document, Report
from evatui.kernel.admission.roots import RootMap
from evatui.kernel.admission.schemas import CompiledSchema
from evatui.kernel.model.diagnostic import Diagnostic, Reason, Span
from evatui.kernel.model.manifest import Isolation, Manifest
from evatui.kernel.model.permissions import Permissions
from evatui.kernel.workspace.snapshot import Snapshot

__all__ = ["Candidate", "Rejection", "Verdict", "places_in"]

_PLACES = (
    ("id",),
    ("lua", "script"),
    ("lua", "entry"),
    ("lua", "health_check"),
    ("isolation",),
    ("state", "schema_version"),
    ("state", "migrations"),
    ("mcp", "tool_name"),
    ("mcp", "exposed_name"),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version that may be loaded.

    ``permissions`` is what manifest and policy both give, ``credentials`` those of the policy that they name, as it
    defined them; ``isolation`` where it is to run, never ``AUTO``, and ``unboxed`` without the OS sandbox that its
    source would need. ``roots`` are the folders that ``permissions`` name. ``warnings`` are rendered.
    """

    manifest: Manifest
    snapshot: Snapshot
    permissions: Permissions
    input: CompiledSchema
    output: CompiledSchema
    isolation: Isolation
    warnings: tuple[Diagnostic, ...] = ()
    credentials: CredentialMap = field(default_factory=dict)
    roots: RootMap = field(default_factory=dict)
    unboxed: bool = False

    @property
    def id(self) -> str:
        return self.manifest.id

    @property
    def places(self) -> Mapping[str, Span]:
        """Where in the manifest things stand that a later stage may find wrong."""
        return places_in(self.snapshot.document)

    @property
    def path(self) -> str:
        return self.snapshot.path

    @property
    def digest(self) -> str:
        """Of the whole closure."""
        return self.snapshot.digest

    @property
    def terms(self) -> str:
        """What a person decides about: the closure and, where it has any, its credentials, as one digest."""
        if not self.credentials:
            return self.digest
        return hashlib.sha256(f"{self.digest}{told(self.credentials)}".encode()).hexdigest()

    @property
    def script_digest(self) -> str:
        return self.snapshot.files[self.manifest.lua.script].digest

    @property
    def input_name(self) -> str:
        """The schema as a message names it."""
        return _schema_name(self.manifest.input_schema, "input_schema")

    @property
    def output_name(self) -> str:
        return _schema_name(self.manifest.output_schema, "output_schema")


@dataclass(frozen=True, slots=True)
class Rejection:
    """A version that must not be loaded. ``diagnostics`` are rendered, the first cause first.

    ``id`` is None where the file has no usable one, ``manifest`` where it could not be understood.
    ``missing`` are the files that it names and that are not there.
    """

    id: str | None
    path: str
    digest: str
    diagnostics: tuple[Diagnostic, ...]
    snapshot: Snapshot = field(compare=False, repr=False)
    manifest: Manifest | None = None
    missing: tuple[str, ...] = ()
    places: Mapping[str, Span] = field(default_factory=dict)

    @property
    def unread(self) -> bool:
        """Could the manifest not even be read? Then ``id`` is a guess."""
        return any(found.reason is Reason.YAML_INVALID for found in self.diagnostics)


Verdict = Candidate | Rejection


def places_in(document: Document | None) -> dict[str, Span]:
    """Those that later refusals may point at, such as ``lua.entry``, as far as they are written there."""
    report = Report(document, MANIFEST_FAULTS) if document is not None else None
    return {".".join(at): report.span(at) for at in _PLACES if report.node(at) is not None} if report else {}


def _schema_name(schema: object, inline: str) -> str:
    return schema if isinstance(schema, str) else inline
