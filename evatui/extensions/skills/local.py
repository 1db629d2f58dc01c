"""What the policy says of the user's own layers."""

from __future__ import annotations

from evatui.extensions.skills.catalogue import UserLocal
from evatui.kernel.admission.policy import Policy

__all__ = ["user_local"]

_RULE = "skills.allow_user_local"


def user_local(policy: Policy | None) -> UserLocal:
    """Every layer of the policy has to allow it; without a policy nothing is allowed."""
    if policy is None:
        return UserLocal(False)
    denying = next((layer for layer in policy.layers if not layer.settings["skills"]["allow_user_local"]), None)
    return UserLocal(True) if denying is None else UserLocal(False, denying.place(_RULE))
