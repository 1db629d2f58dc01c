"""The credentials of a version: what the kernel may send in its name, where to, and in which header.

A policy says so, not the manifest, so the same bytes may send more from one moment to the next. Therefore a version
carries what the policy said when it was judged, and a policy that is wider by now makes it another version, which
waits for approval like any other that may do more. A policy that is narrower holds at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evatui.kernel.admission.permission_diff import FieldChange
from evatui.kernel.model.change import Trend
from evatui.kernel.model.permissions import Permissions, covers_host, covers_name

__all__ = ["CredentialMap", "common", "credential_changes", "told", "used"]

CredentialMap = Mapping[str, Mapping[str, Any]]
"""By name, as a policy defines them: ``{from, hosts, header, prefix}``."""


def used(permissions: Permissions, defined: CredentialMap) -> CredentialMap:
    """Those of ``defined`` that ``permissions`` name."""
    return {
        name: dict(one) for name, one in defined.items() if any(covers_name(entry, name) for entry in permissions.env)
    }


def common(given: CredentialMap, defined: CredentialMap) -> CredentialMap:
    """What was ``given`` as far as it is still ``defined``: sent to no host and in no header but those of before."""
    return {
        name: {**one, "hosts": [host for host in _hosts(one, defined[name]) if _covered(host, one["hosts"])]}
        for name, one in given.items()
        if name in defined and one["from"] == defined[name]["from"]
    }


def _hosts(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The narrower ones of both sides."""
    mine, theirs = list(one["hosts"]), list(other["hosts"])
    return [host for host in mine if _covered(host, theirs)] + [
        host for host in theirs if host not in mine and _covered(host, mine)
    ]


def _covered(asked: str, hosts: list[str]) -> bool:
    return any(covers_host(entry, asked) for entry in hosts)


def credential_changes(before: CredentialMap, after: CredentialMap) -> tuple[FieldChange, ...]:
    """Those that differ. Wider is a host more, and any other header, prefix or source."""
    return tuple(
        _change(name, _entries(before.get(name)), _entries(after.get(name)))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    )


def _entries(one: Mapping[str, Any] | None) -> tuple[str, ...]:
    if one is None or not one["hosts"]:
        return ()
    return (*one["hosts"], f"as {one['header']}: {one['prefix']}… from {one['from']}")


def _change(name: str, before: tuple[str, ...], after: tuple[str, ...]) -> FieldChange:
    gained = tuple(entry for entry in after if not _covered(entry, list(before)))
    lost = tuple(entry for entry in before if not _covered(entry, list(after)))
    trend = Trend.WIDENED if gained else Trend.NARROWED if lost else Trend.UNCHANGED
    return FieldChange(f"credentials.{name}", trend, before, after, gained, lost)


def told(credentials: CredentialMap) -> str:
    """Equal for equal ones."""
    return json.dumps(credentials, sort_keys=True, separators=(",", ":"))
