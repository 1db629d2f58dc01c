"""Trust in a workspace: what in it may start processes, connect, or have secrets injected.

A workspace cannot bring it along: it is kept in the operator's own folder, by the digest of each part.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.admission.weighing import power_of
from evatui.kernel.model.clock import rfc3339
from evatui.kernel.model.permissions import ALL, NOTHING
from evatui.kernel.storage.trust_book import TrustBook, TrustedPart
from evatui.kernel.workspace.home import OperatorHome

__all__ = ["Part", "Trust", "part_of"]

_MAX_SIDE = 120
"""Characters of what something was, and of what it is."""
_BESIDE = 20
"""Of them on either side, what both have in common."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something in a workspace that needs trust. ``power`` is what it may do, JSON-like."""

    name: str
    digest: str
    power: Mapping[str, Any]
    files: Mapping[str, str]


def part_of(candidate: Candidate, policy: Policy) -> Part | None:
    """None for a version that neither starts processes, nor connects, nor has secrets injected."""
    power = power_of(candidate.permissions)
    if power == NOTHING:
        return None
    told = power.to_json()
    asked = {name: told[name] for name in ("network", "shell", "env") if told[name]}
    used = {name: dict(one) for name, one in policy.credentials.items() if {name, ALL} & set(power.env)}
    shown = {**asked, "credentials": used} if used else asked
    text = json.dumps([candidate.digest, shown], sort_keys=True)
    files = {path: file.digest for path, file in candidate.snapshot.files.items()}
    files[candidate.path] = candidate.snapshot.manifest.digest
    return Part(f"capability {candidate.id}", hashlib.sha256(text.encode()).hexdigest(), shown, files)


class Trust:
    """Without a ``home``, or with one that trusts all, whoever opens the runtime vouches for the workspace.

    A part that was trusted when it went into service stays so in this run while it changes: what it may do beyond
    that is a matter of approval, and what is trusted follows what serves. The methods that write are blocking.
    """

    def __init__(self, home: OperatorHome | None, root: Path, *, writes: bool) -> None:
        self._book = TrustBook(home.trust_file, root) if home is not None and not home.trusts_all else None
        self._writes = writes
        self._known: dict[str, TrustedPart] = {}
        self._serving: set[str] = set()

    @property
    def vouched(self) -> bool:
        """Is everything trusted, whatever it is?"""
        return self._book is None

    @property
    def known(self) -> int:
        """How many parts are trusted by digest."""
        return len(self._known)

    def load(self) -> None:
        """Blocking."""
        if self._book is not None:
            self._known = self._book.parts()

    def has(self, part: Part) -> bool:
        known = self._known.get(part.name)
        return self.vouched or part.name in self._serving or (known is not None and known.digest == part.digest)

    def differences(self, part: Part) -> list[str]:
        """How a part differs from what was trusted under its name; nothing where nothing was."""
        known = self._known.get(part.name)
        return list(_differences(known, part)) if known is not None and known.digest != part.digest else []

    def serves(self, part: Part, at: dt.datetime) -> None:
        """The part goes into service, so it is trusted; what is on record follows."""
        self._serving.add(part.name)
        known = self._known.get(part.name)
        if not self.vouched and (known is None or known.digest != part.digest):
            self.set([part], at)

    def set(self, parts: Iterable[Part], at: dt.datetime) -> None:
        """Trusts these. Raises `StorageError` where that cannot be kept."""
        if self._book is None:
            return
        new = {part.name: TrustedPart(part.digest, part.power, part.files, rfc3339(at)) for part in parts}
        if self._writes:
            self._book.set(new)
        self._known.update(new)

    def revoke(self) -> bool:
        """Trusts nothing here any more; was anything trusted? Raises `StorageError`."""
        was = bool(self._known)
        if self._book is not None and self._writes:
            was = self._book.forget() or was
        self._known.clear()
        self._serving.clear()
        return was


def _differences(known: TrustedPart, part: Part) -> Iterator[str]:
    for name in sorted({*known.power, *part.power}):
        before, after = known.power.get(name), part.power.get(name)
        if before != after:
            was, now = _unlike(_shown(before), _shown(after))
            yield f"{name}: {was} → {now}"
    for path in sorted({*known.files, *part.files}):
        if known.files.get(path) != part.files.get(path):
            what = "new" if path not in known.files else "gone" if path not in part.files else "changed"
            yield f"{path}: {what}"


def _unlike(before: str, after: str) -> tuple[str, str]:
    """Where they differ, and a little around it: no length of what they share keeps that out of sight."""
    first = _shared(before, after)
    last = _shared(before[:first:-1], after[:first:-1])
    return _around(before, first, len(before) - last), _around(after, first, len(after) - last)


def _shared(before: str, after: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))


def _around(text: str, first: int, last: int) -> str:
    begin, end = max(0, first - _BESIDE), min(len(text), last + _BESIDE)
    part = f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"
    return part if len(part) <= _MAX_SIDE else f"{part[: _MAX_SIDE // 2]}…{part[-_MAX_SIDE // 2 + 1 :]}"


def _shown(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)
