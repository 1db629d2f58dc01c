"""Devices that were seen, how often each was plugged in, and which of them an operator has given a name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evatui.kernel.storage.database import Database

__all__ = ["Binding", "Claim", "DeviceBook", "KeptDevice", "Link"]

_MAX_DEVICES: Final = 1_000


@dataclass(frozen=True, slots=True)
class Link:
    """One time that a device was plugged in. Times are RFC 3339; ``detached`` and ``reason`` are empty while it is."""

    generation: int
    attached: str
    detached: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDevice:
    """``attachment`` is what the last time it was plugged in is known by; ``links`` are the newest, oldest first."""

    fingerprint: str
    generation: int
    attachment: str
    first_seen: str
    last_seen: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    fingerprint: str
    logical_id: str
    at: str
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An operator's hold on a device."""

    fingerprint: str
    lease_id: str
    at: str
    actor: str


class DeviceBook:
    """Thread-safe, and blocking: for worker threads. Raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def devices(self) -> list[KeptDevice]:
        with self._database.reading() as rows:
            found = rows.execute("SELECT * FROM devices ORDER BY fingerprint").fetchall()
        return [
            KeptDevice(
                fingerprint=fingerprint,
                generation=generation,
                attachment=attachment,
                first_seen=first,
                last_seen=last,
                links=tuple(Link(*link) for link in json.loads(links)),
            )
            for fingerprint, generation, attachment, first, last, links in found
        ]

    def keep(self, devices: Sequence[KeptDevice]) -> None:
        """A generation never goes back. Of too many devices those are forgotten that were gone for longest, but for
        the bound ones."""
        with self._database.transaction() as rows:
            rows.executemany(
                "INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (fingerprint) DO UPDATE SET"
                " generation = max(generation, excluded.generation), attachment = excluded.attachment,"
                " last_seen = excluded.last_seen, links = excluded.links",
                [
                    (one.fingerprint, one.generation, one.attachment, one.first_seen, one.last_seen, _links(one))
                    for one in devices
                ],
            )
            rows.execute(
                "DELETE FROM devices WHERE fingerprint IN (SELECT fingerprint FROM devices WHERE fingerprint NOT IN"
                " (SELECT fingerprint FROM bindings) ORDER BY last_seen DESC LIMIT -1 OFFSET ?)",
                (_MAX_DEVICES,),
            )

    def bindings(self) -> list[Binding]:
        with self._database.reading() as rows:
            found = rows.execute("SELECT fingerprint, logical_id, at, actor FROM bindings").fetchall()
        return [Binding(fingerprint=one, logical_id=name, at=at, actor=actor) for one, name, at, actor in found]

    def bind(self, binding: Binding) -> None:
        """In place of what the device, and the name, were bound to before."""
        with self._database.transaction() as rows:
            rows.execute(
                "DELETE FROM bindings WHERE fingerprint = ? OR logical_id = ?",
                (binding.fingerprint, binding.logical_id),
            )
            rows.execute(
                "INSERT INTO bindings VALUES (?, ?, ?, ?)",
                (binding.fingerprint, binding.logical_id, binding.at, binding.actor),
            )

    def unbind(self, fingerprint: str) -> None:
        with self._database.transaction() as rows:
            rows.execute("DELETE FROM bindings WHERE fingerprint = ?", (fingerprint,))

    def claim(self, claim: Claim) -> None:
        with self._database.transaction() as rows:
            rows.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)",
                (claim.fingerprint, claim.lease_id, claim.at, claim.actor),
            )

    def unclaim(self, lease_id: str) -> None:
        with self._database.transaction() as rows:
            rows.execute("DELETE FROM claims WHERE lease_id = ?", (lease_id,))

    def orphans(self) -> list[Claim]:
        """At a start: the claims of a runtime that died with them. They are forgotten."""
        with self._database.transaction() as rows:
            found = rows.execute("SELECT fingerprint, lease_id, at, actor FROM claims").fetchall()
            rows.execute("DELETE FROM claims")
        return [Claim(fingerprint=one, lease_id=lease, at=at, actor=actor) for one, lease, at, actor in found]


def _links(device: KeptDevice) -> str:
    return json.dumps([[link.generation, link.attached, link.detached, link.reason] for link in device.links])
