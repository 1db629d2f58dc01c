"""What the policy in force says, at the time of asking."""

from __future__ import annotations

from collections.abc import Callable

from evatui.kernel.admission.credentials import CredentialMap, common
from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.manifest import AuditLevels
from evatui.kernel.model.permissions import Permissions

__all__ = ["InForce"]


class InForce:
    """Where there is no policy yet, nothing is granted. Cheap, and for any thread."""

    def __init__(self, policy: Callable[[], Policy | None]) -> None:
        self._policy = policy

    def permissions(self, candidate: Candidate) -> Permissions:
        policy = self._policy()
        return policy.effective(candidate.manifest) if policy else Permissions()

    def levels(self, candidate: Candidate) -> AuditLevels:
        policy = self._policy()
        return policy.audit_levels(candidate.manifest) if policy else AuditLevels()

    def credentials(self, candidate: Candidate) -> CredentialMap:
        """What the candidate was judged with, as far as the policy still defines it."""
        policy = self._policy()
        return common(candidate.credentials, policy.credentials) if policy else {}
