"""Which device is it? By its serial number where that can be trusted, else by where it is plugged in."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from evatui.hardware.sighting import Bus, Sighting

__all__ = ["Identity", "Strength", "identify"]

_MAX_IDENT = 64
_RISING = "0123456789ABCDEF0123456789ABCDEF"
_DECIMALS = "12345678901234567890"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")


class Strength(StrEnum):
    """How sure it is that a key means one device: ``weak`` is a place that anything can be plugged into, and ``bound``
    one of which a person has said what is there."""

    STRONG = "strong"
    WEAK = "weak"
    BOUND = "bound"
    SIMULATED = "simulated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """``fingerprint`` is what the device shows by itself, and what is remembered of it; ``key`` is what people and
    programs call it: the same, but for a weak one that an operator has bound to ``logical_id``.

    ``doubt`` says why it may be another device than it seems, empty where nothing speaks for that.
    """

    key: str
    fingerprint: str
    strength: Strength
    sighting: Sighting
    logical_id: str | None = None
    doubt: str = ""
    cloned: bool = False
    """Another device that is there shows the same serial number."""
    alike: bool = False
    """Another device that is there shows all that it shows."""


def identify(sightings: Iterable[Sighting], bindings: Mapping[str, str]) -> tuple[Identity, ...]:
    """The devices among ``sightings``, each with a key of its own; ``bindings`` are fingerprints to logical ids.

    Whoever shows the serial number of another that is there is known by its place instead, and so is that other one.
    Two that can in no way be told apart are one entry, which is in doubt.
    """
    seen = tuple(sightings)
    strong = {id(one): key for one in seen if (key := _strong_key(one))}
    often = Counter(strong.values())
    found: dict[str, Identity] = {}
    kinds = Counter(_kind(one) for one in seen if often[strong.get(id(one), "")] != 1)
    for one in seen:
        key = strong.get(id(one), "")
        cloned = often[key] > 1
        trusted = often[key] == 1
        fingerprint = key if trusted else _key(one, f"t.{_safe(one.topology or 'unknown')}")
        if fingerprint in found:
            found[fingerprint] = _in_doubt(found[fingerprint], "several devices look exactly like this one")
            continue
        bound = bindings.get(fingerprint)
        found[fingerprint] = Identity(
            key=_key(one, f"b.{bound}") if bound and not trusted else fingerprint,
            fingerprint=fingerprint,
            strength=_strength(one, trusted, bound),
            sighting=one,
            logical_id=bound,
            doubt="" if trusted or bound else _doubt(one, cloned, kinds[_kind(one)]),
            cloned=cloned,
        )
    return tuple(found.values())


def _strength(one: Sighting, trusted: bool, bound: str | None) -> Strength:
    if one.simulated:
        return Strength.SIMULATED
    if one.bus is Bus.REMOTE:
        return Strength.BOUND
    if trusted:
        return Strength.STRONG
    return Strength.BOUND if bound else Strength.WEAK


def _doubt(one: Sighting, cloned: bool, alike: int) -> str:
    if cloned:
        return "another device shows the same serial number"
    if alike > 1 and one.vendor is not None:
        return f"{alike} devices of this kind are there, and it has no serial number to tell them apart"
    return ""


def _in_doubt(identity: Identity, why: str) -> Identity:
    return Identity(
        key=identity.fingerprint,
        fingerprint=identity.fingerprint,
        strength=identity.strength,
        sighting=identity.sighting,
        doubt=why,
        cloned=identity.cloned,
        alike=True,
    )


def _strong_key(one: Sighting) -> str:
    if one.simulated:
        return _key(one, f"sim.{_safe(one.serial)}")
    if one.bus is Bus.REMOTE:
        return _key(one, f"n.{_safe(one.topology)}")
    return _key(one, f"s.{_safe(one.serial)}") if _is_telling(one.serial) else ""


def _is_telling(serial: str) -> bool:
    """Makers that number nothing write zeros, or count up; that says as much as nothing."""
    bare = serial.strip().upper()
    return len(bare) >= 4 and not set(bare) <= {"0"} and not set(bare) <= {"F"} and not _counts(bare)


def _counts(bare: str) -> bool:
    return bare in _RISING or bare in _DECIMALS


def _kind(one: Sighting) -> tuple[Bus, int | None, int | None, str, str]:
    return one.bus, one.vendor, one.product, one.interface, one.usage


def _key(one: Sighting, ident: str) -> str:
    parts = [one.bus.value, f"{one.vendor or 0:04x}", f"{one.product or 0:04x}", ident]
    return ":".join([*parts, *filter(None, (one.interface, one.usage))])


def _safe(text: str) -> str:
    """``text`` as part of a key. What does not fit is escaped, or hashed, so that two never become one."""
    slug = _UNSAFE.sub(lambda found: "".join(f"~{byte:02x}" for byte in found[0].encode()), text)
    if len(slug) <= _MAX_IDENT:
        return slug
    return f"{slug[: _MAX_IDENT - 17]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"
