"""All devices: each look of a source becomes what happened to each of them. Pure; for one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from evatui.hardware.device import Change, Device
from evatui.hardware.identity import Identity, identify
from evatui.hardware.lifecycle import DeviceState
from evatui.hardware.matching import Match, named
from evatui.hardware.moment import Moment
from evatui.hardware.rules import Rules
from evatui.hardware.sighting import Sighting
from evatui.kernel.storage.device_book import KeptDevice

__all__ = ["Fleet"]

_MAX_GONE: Final = 1_000
"""So many that are gone are remembered, and those with a name besides."""


class Fleet:
    """``told`` hears each change, in the order in which they happen; `remember` comes before the first look."""

    def __init__(self, told: Callable[[Change], None]) -> None:
        self.bindings: dict[str, str] = {}
        """Fingerprints to logical ids."""
        self.matches: dict[str, Match] = {}
        """What adapters expect, by their ids."""
        self._told = told
        self._kept: dict[str, KeptDevice] = {}
        self._devices: dict[str, dict[str, Device]] = {}
        self._last: dict[str, Sequence[Sighting]] = {}
        self._answered: dict[str, tuple[tuple[Any, ...], list[Identity]]] = {}

    def remember(self, kept: Iterable[KeptDevice], bindings: Mapping[str, str]) -> None:
        self._kept = {one.fingerprint: one for one in kept}
        self.bindings = dict(bindings)

    @property
    def devices(self) -> list[Device]:
        """By key; those that are gone for good are not among them."""
        every = (device for found in self._devices.values() for device in found.values())
        return sorted(every, key=lambda device: device.identity.key)

    @property
    def missing(self) -> list[tuple[str, str]]:
        """Fingerprint and logical id of what has a name, and is not there."""
        there = {device.identity.fingerprint for device in self.devices}
        return sorted((print_, name) for print_, name in self.bindings.items() if print_ not in there)

    def generation(self, fingerprint: str) -> int:
        """How often a device that is not there was plugged in."""
        return self._kept[fingerprint].generation if fingerprint in self._kept else 0

    @property
    def due(self) -> float | None:
        """When the first of them has something to do by itself."""
        return min((one.due for one in self.devices if one.due is not None), default=None)

    def observe(self, source: str, sightings: Sequence[Sighting], rules: Rules, now: Moment) -> None:
        """``source`` has looked, and sees ``sightings``."""
        self._last[source] = sightings
        found = self._devices.setdefault(source, {})
        there = {one.fingerprint: one for one in self._identified(source, sightings)}
        for fingerprint, device in found.items():
            if fingerprint not in there:
                device.missed(now)
        for fingerprint, identity in there.items():
            known = found.get(fingerprint)
            if known is None:
                known = found[fingerprint] = Device(identity, self._told, self._kept.pop(fingerprint, None))
            known.seen(identity, rules.judge, now)
        self._pass(source, now)

    def again(self, rules: Rules, now: Moment) -> None:
        """What the sources saw last, under the names and rules of now."""
        for source, sightings in self._last.items():
            found = self._devices[source]
            for identity in self._identified(source, sightings):
                device = found.get(identity.fingerprint)
                if device is not None:
                    device.seen(identity, rules.judge, now)

    def _identified(self, source: str, sightings: Sequence[Sighting]) -> list[Identity]:
        """Most looks see what the last one saw."""
        asked = (sightings, self.bindings, self.matches)
        answered = self._answered.get(source)
        if answered is None or answered[0] != asked:
            found = named(identify(sightings, self.bindings), self.matches.values(), set(self.bindings.values()))
            answered = self._answered[source] = (sightings, dict(self.bindings), dict(self.matches)), found
        return answered[1]

    def disable(self, source: str, now: Moment) -> None:
        self._last.pop(source, None)
        for device in self._devices.get(source, {}).values():
            device.disable(now)

    def pass_time(self, now: Moment) -> None:
        for source in self._devices:
            self._pass(source, now)

    def _pass(self, source: str, now: Moment) -> None:
        """A device that nobody expects back is remembered, and no longer looked after."""
        found = self._devices[source]
        for device in found.values():
            device.pass_time(now)
        for fingerprint in [name for name, one in found.items() if one.state is DeviceState.ABSENT]:
            kept = found.pop(fingerprint).kept
            if kept is not None:
                self._kept[fingerprint] = kept
                self._forget()

    def _forget(self) -> None:
        """A device that shows another number at each plugging-in fills nobody's memory."""
        nameless = [one for one in self._kept.values() if one.fingerprint not in self.bindings]
        if len(nameless) > _MAX_GONE:
            del self._kept[min(nameless, key=lambda one: one.last_seen).fingerprint]
