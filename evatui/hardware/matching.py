"""Which device does an adapter's manifest mean? One that it fits for certain, and never one of several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evatui.hardware.identity import Identity, Strength
from evatui.hardware.sighting import Bus

__all__ = ["Match", "match_of", "named"]


@dataclass(frozen=True, slots=True)
class Match:
    """``serial`` and ``place`` empty and ``vendor`` or ``product`` None fit any. ``address`` is one of the network,
    ``place`` is where it is plugged in, as `Sighting.topology` has it."""

    logical_id: str
    bus: Bus
    vendor: int | None = None
    product: int | None = None
    serial: str = ""
    place: str = ""
    address: str = ""

    def fits(self, identity: Identity) -> bool:
        """Vendor and product alone are those of the chip that a thousand different devices are built around: only a
        number that is telling, or a place that somebody has written down, makes sure that it is the one."""
        seen = identity.sighting
        if seen.bus is not self.bus:
            return False
        if self.bus is Bus.REMOTE:
            return seen.path == self.address
        numbered = seen.serial == self.serial and identity.strength in (Strength.STRONG, Strength.SIMULATED)
        return (
            self.vendor in (None, seen.vendor)
            and self.product in (None, seen.product)
            and bool(self.serial or self.place)
            and (not self.serial or numbered)
            and self.place in ("", seen.topology)
        )


def match_of(block: Mapping[str, Any]) -> Match:
    """``block`` is the ``hardware`` of a manifest."""
    wanted = block["match"]
    return Match(
        block["identity"]["logical_name"],
        Bus(block["bus"]),
        int(wanted["vendor_id"], 16) if wanted["vendor_id"] else None,
        int(wanted["product_id"], 16) if wanted["product_id"] else None,
        wanted["serial"],
        wanted["path"],
        wanted["address"] or "",
    )


def named(identities: Sequence[Identity], matches: Collection[Match], taken: Collection[str]) -> list[Identity]:
    """``identities`` with the names that ``matches`` give to those that have none; a name that an operator has given
    (``taken``) is nobody else's."""
    free = [match for match in matches if match.logical_id not in taken]
    found = [_named(one, free) for one in identities]
    often = Counter(one.logical_id for one in found if one.logical_id is not None and one.logical_id not in taken)
    return [
        replace(one, logical_id=None, doubt=f"its manifest fits {often[one.logical_id]} devices that are there")
        if one.logical_id is not None and often[one.logical_id] > 1
        else one
        for one in found
    ]


def _named(one: Identity, free: Collection[Match]) -> Identity:
    fitting = [match for match in free if one.logical_id is None and match.fits(one)]
    names = sorted({match.logical_id for match in fitting})
    if len(names) > 1:
        return replace(one, doubt=f"several manifests mean this device: {', '.join(names)}")
    if not names or one.alike:
        return one
    if any(match.place for match in fitting):  # where it is plugged in tells it from those that look like it
        return replace(one, logical_id=names[0], doubt="")
    return one if one.doubt else replace(one, logical_id=names[0])
