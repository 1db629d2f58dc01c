"""What the policy says of the user's own layers."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.admission.policy import Policy

__all__ = ["UserLocal", "user_local"]

_RULE = "skills.allow_user_local"


@dataclass(frozen=True, slots=True)
class UserLocal:
    """May what lies in the user's own layers be used, and ``place``: which line of the policy says so."""

    allowed: bool
    place: str = "default"


def user_local(policy: Policy | None) -> UserLocal:
    """Every layer of the policy has to allow it; without a policy nothing is allowed."""
    if policy is None:
        return UserLocal(False)
    denying = next((layer for layer in policy.layers if not layer.settings["skills"]["allow_user_local"]), None)
    return UserLocal(True) if denying is None else UserLocal(False, denying.place(_RULE))
