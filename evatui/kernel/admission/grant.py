"""What a version of a capability was granted when it went into service: the baseline that the next one is held to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from evatui.kernel.admission.credentials import CredentialMap
from evatui.kernel.admission.manifest import permissions
from evatui.kernel.admission.roots import RootMap
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.manifest import Isolation
from evatui.kernel.model.permissions import Permissions

__all__ = ["Grant", "document_of"]


@dataclass(frozen=True, slots=True)
class Grant:
    """``input`` and ``output`` are the digests of the schemas' documents, ``isolation`` where it ran.

    ``unboxed``: without the OS sandbox that its source would need.
    """

    permissions: Permissions
    names: tuple[str, ...]
    isolation: Isolation
    limits: Mapping[str, int]
    input: str
    output: str
    credentials: CredentialMap = field(default_factory=dict)
    roots: RootMap = field(default_factory=dict)
    unboxed: bool = False

    @classmethod
    def of(cls, candidate: Candidate) -> Grant:
        manifest = candidate.manifest
        return cls(
            candidate.permissions,
            manifest.provides,
            candidate.isolation,
            asdict(manifest.limits),
            _digest(document_of(candidate.input.document)),
            _digest(document_of(candidate.output.document)),
            candidate.credentials,
            candidate.roots,
            candidate.unboxed,
        )

    @classmethod
    def read(cls, text: str) -> Grant:
        """What `text` wrote."""
        raw = json.loads(text)
        return cls(
            permissions(raw["permissions"]),
            tuple(raw["names"]),
            Isolation(raw["isolation"]),
            raw["limits"],
            raw["input"],
            raw["output"],
            raw.get("credentials", {}),
            raw.get("roots", {}),
            raw.get("unboxed", False),
        )

    def text(self) -> str:
        """Equal grants give equal texts."""
        raw = {**_fields(self), "permissions": self.permissions.to_json(), "names": list(self.names)}
        if self.credentials:
            raw["credentials"] = {name: dict(one) for name, one in self.credentials.items()}
        if self.roots:
            raw["roots"] = dict(self.roots)
        if self.unboxed:
            raw["unboxed"] = True
        return json.dumps(raw, sort_keys=True, separators=(",", ":"))


def document_of(schema: Mapping[str, Any]) -> str:
    """A schema as it is kept."""
    return json.dumps(schema, sort_keys=True, separators=(",", ":"))


def _fields(grant: Grant) -> dict[str, Any]:
    return {
        "isolation": grant.isolation.value,
        "limits": dict(grant.limits),
        "input": grant.input,
        "output": grant.output,
    }


def _digest(document: str) -> str:
    return hashlib.sha256(document.encode()).hexdigest()
