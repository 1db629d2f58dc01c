"""Who gets the new version: by name, by tag, by workspace, or by a share of all subjects. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evatui.kernel.model.manifest import CanarySpec
from evatui.kernel.model.text import clean_line

__all__ = ["Placement", "bucket", "place", "share", "told"]

_PLACES: Final = 2**53
"""As many as a float tells apart: the last one is still below 100."""


@dataclass(frozen=True, slots=True)
class Placement:
    """``why`` is a clause for people: ``user ann is named``."""

    canary: bool
    why: str


def place(
    spec: CanarySpec,
    capability_id: str,
    *,
    user: str | None,
    tags: Mapping[str, str],
    workspace: str,
    trace_id: str | None,
) -> Placement:
    """Where a call goes.

    A subject is the user, or where there is none the trace, so that a chain of calls sees one version; with neither
    it is a question about calls in general. A subject falls on the same side at any time and in any runtime: its
    place depends on the capability and on itself, not on the version, so a share that grows or shrinks moves only
    those who must be moved.
    """
    if user is not None and user in spec.users:
        return Placement(True, f"user {clean_line(user, 128)} is named in canary.users")
    if spec.tags and all(tags.get(key) == value for key, value in spec.tags.items()):
        return Placement(True, f"it has the tags {_shown(spec.tags)} of canary.tags")
    if workspace in spec.workspaces:
        return Placement(True, f"workspace {clean_line(workspace, 64)} is named in canary.workspaces")
    if user is None and trace_id is None:
        return Placement(False, f"without a user, {share(spec)} of all traces get the canary")
    at = bucket(capability_id, user if user is not None else str(trace_id))
    subject = f"user {clean_line(user, 128)}" if user is not None else "this trace"
    return Placement(
        at < spec.percent, f"{subject} is at {at:.2f} of 100, and the canary takes those below {share(spec)}"
    )


def share(spec: CanarySpec) -> str:
    """``10 %``, without a fraction where there is none."""
    return f"{spec.percent:g} %"


def told(spec: CanarySpec) -> str:
    """``10 %, users ann, bob, tags ring=beta``."""
    parts = [share(spec)]
    if spec.users:
        parts.append(f"users {', '.join(clean_line(user, 64) for user in spec.users)}")
    if spec.tags:
        parts.append(f"tags {_shown(spec.tags)}")
    if spec.workspaces:
        parts.append(f"workspaces {', '.join(clean_line(name, 64) for name in spec.workspaces)}")
    return ", ".join(parts)


def bucket(capability_id: str, subject: str) -> float:
    """Where ``subject`` stands among all subjects of a capability, evenly spread over 0 to 100 (100 excluded)."""
    named = hashlib.blake2b(f"{capability_id}\n{subject}".encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(named) % _PLACES / _PLACES * 100


def _shown(tags: Mapping[str, str]) -> str:
    return ", ".join(f"{clean_line(key, 64)}={clean_line(value, 64)}" for key, value in sorted(tags.items()))
