"""Which device does an adapter's manifest mean? One that it fits for certain, and never one of several."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evatui.hardware.identity import Identity, Strength
from evatui.hardware.sighting import Bus

__all__ = ["Match", "match_of", "named"]


@dataclass(frozen=True, slots=True)
class Match:
    """``serial`` empty and ``vendor`` or ``product`` None fit any."""

    logical_id: str
    bus: Bus
    vendor: int | None = None
    product: int | None = None
    serial: str = ""

    def fits(self, identity: Identity) -> bool:
        """Vendor and product alone are those of the chip that a thousand different devices are built around: only a
        number that is telling makes sure that it is the one."""
        seen = identity.sighting
        return (
            seen.bus is self.bus
            and self.vendor in (None, seen.vendor)
            and self.product in (None, seen.product)
            and bool(self.serial)
            and seen.serial == self.serial
            and identity.strength in (Strength.STRONG, Strength.SIMULATED)
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
    )


def named(identities: Sequence[Identity], matches: Collection[Match], taken: Collection[str]) -> list[Identity]:
    """``identities`` with the names that ``matches`` give to those that have none; a name that an operator has given
    (``taken``) is nobody else's."""
    free = [match for match in matches if match.logical_id not in taken]
    found = []
    for one in identities:
        names = sorted({match.logical_id for match in free if one.logical_id is None and match.fits(one)})
        if len(names) > 1:
            found.append(replace(one, doubt=f"several manifests mean this device: {', '.join(names)}"))
        elif names and not one.doubt:
            found.append(replace(one, logical_id=names[0]))
        else:
            found.append(one)
    return found
