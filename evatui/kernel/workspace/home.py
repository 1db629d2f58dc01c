"""What belongs to the person who runs the runtime, not to a workspace: a policy of their own, and whom they trust.

It lies in the user's configuration folder, so that no workspace can bring it along.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from evatui.kernel.workspace.files import FileProblem, ProblemKind, Signature, SourceFile, signature_of

__all__ = ["OPERATOR_FILE", "OperatorHome"]

OPERATOR_FILE = "<user config>/policy.yaml"
"""How the operator's policy is named wherever it is shown: never by its path."""
_POLICY = "policy.yaml"
_TRUST = "trust.json"
_AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class OperatorHome:
    """``folder`` need not exist. ``trusts_all``: the operator vouches for whatever is opened.

    ``data`` is where the operator keeps what is for every workspace, ``parent`` where the profile does that this one
    belongs to, ``skills`` are folders of skills named for this run; none of them need exist.
    """

    folder: Path
    trusts_all: bool = False
    data: Path | None = None
    parent: Path | None = None
    skills: tuple[Path, ...] = ()

    @property
    def trust_file(self) -> Path:
        return self.folder / _TRUST

    @property
    def audit_folder(self) -> Path:
        """The key that signs heads of audit logs, and the newest head of each."""
        return self.folder / _AUDIT

    def policy_signature(self) -> Signature | None:
        """None where there is no policy. Blocking."""
        try:
            return signature_of(os.stat(self.folder / _POLICY))
        except OSError:
            return None

    def read_policy(self, limit: int) -> SourceFile | FileProblem | None:
        """The operator's policy; None where there is none. Blocking.

        A link is followed: people keep their configuration elsewhere and link it. Whatever is there and cannot
        be read is a problem, never taken for nothing.
        """
        path = self.folder / _POLICY
        if not os.path.lexists(path):
            return None
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        except OSError as error:
            return FileProblem(OPERATOR_FILE, ProblemKind.UNREADABLE, os.strerror(error.errno or 0).lower())
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                return FileProblem(OPERATOR_FILE, ProblemKind.NOT_REGULAR, "it is no regular file")
            with os.fdopen(os.dup(descriptor), "rb") as file:
                data = file.read(limit + 1)
        finally:
            os.close(descriptor)
        if len(data) > limit:
            return FileProblem(OPERATOR_FILE, ProblemKind.TOO_LARGE, f"it has more than {limit:,} bytes")
        return SourceFile(OPERATOR_FILE, data, hashlib.sha256(data).hexdigest(), signature_of(found))
