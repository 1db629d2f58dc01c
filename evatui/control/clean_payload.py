"""What an event says, as it may be shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evatui.control.audit_rows import cleaned
from evatui.kernel.records.redact import redact

__all__ = ["CleanPayload"]


class CleanPayload(Mapping[str, Any]):
    """Without secrets and control characters.

    Cleaned when it is first read: of the thousands of events between two snapshots of a busy runtime hardly one is,
    and cleaning them all kept its loop from answering.
    """

    __slots__ = ("_clean", "_told")

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._told = told
        self._clean: dict[str, Any] | None = None

    def __getitem__(self, key: str) -> Any:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> dict[str, Any]:
        if self._clean is None:
            self._clean = cleaned(redact(dict(self._told)))
        return self._clean
