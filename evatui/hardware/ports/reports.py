"""Which reports a HID device has, and how long they are, as its descriptor says. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["Reports", "reports_in"]

_INPUT, _OUTPUT, _FEATURE = (0, 8), (0, 9), (0, 11)
_SIZE, _ID, _COUNT, _PUSH, _POP = (1, 7), (1, 8), (1, 9), (1, 10), (1, 11)
_LONG: Final = 0xFE
_MAX_BITS: Final = 8 * 65_536


@dataclass(frozen=True, slots=True)
class Reports:
    """Bytes without the number, by number; where ``numbered`` is false there is one of each
    kind, and its number is 0."""

    numbered: bool
    inputs: Mapping[int, int]
    outputs: Mapping[int, int]
    features: Mapping[int, int]


def reports_in(descriptor: bytes) -> Reports:
    """Raises `ValueError` for what is no descriptor."""
    now, saved = {_SIZE: 0, _ID: 0, _COUNT: 0}, []
    bits: dict[tuple[int, int], Counter[int]] = {_INPUT: Counter(), _OUTPUT: Counter(), _FEATURE: Counter()}
    numbered = False
    for item, value in _items(descriptor):
        if item in now:
            now[item] = value
            numbered |= item == _ID
        elif item == _PUSH:
            saved.append(dict(now))
        elif item == _POP and saved:
            now = saved.pop()
        elif item in bits:
            counted = bits[item]
            counted[now[_ID]] += now[_SIZE] * now[_COUNT]
            if now[_ID] > 255 or counted[now[_ID]] > _MAX_BITS:
                raise ValueError("a report that is longer than any")
    return Reports(numbered, *({one: -(-size // 8) for one, size in found.items()} for found in bits.values()))


def _items(descriptor: bytes) -> Iterator[tuple[tuple[int, int], int]]:
    """Each with its kind, as type and tag, and its value."""
    at = 0
    while at < len(descriptor):
        head = descriptor[at]
        if head == _LONG:
            at += 3 + (descriptor[at + 1] if at + 1 < len(descriptor) else 0)
            continue
        size = (0, 1, 2, 4)[head & 3]
        data = descriptor[at + 1 : at + 1 + size]
        if len(data) < size:
            raise ValueError("a descriptor that ends in the middle")
        yield ((head >> 2) & 3, head >> 4), int.from_bytes(data, "little")
        at += 1 + size
