"""The shape of an audit record: its keys in their order, and what of an input or output goes into it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from evatui.kernel.model.manifest import AuditLevel
from evatui.kernel.model.text import cut
from evatui.kernel.records.redact import redact

__all__ = ["FIELDS", "GENESIS", "MAX_TEXT", "MAX_VALUE_BYTES", "canonical", "compose", "line_hash", "measured"]

FIELDS = (
    "actor",
    "capability_id",
    "capability",
    "generation",
    "script_digest",
    "manifest_digest",
    "request_id",
    "trace_id",
    "duration_us",
    "error_kind",
    "input",
    "output",
    "host_calls",
)
"""Between ``seq, at, code, outcome`` and ``prev``. A field that a record does not need is null, host calls ``[]``."""
_BLANK: dict[str, Any] = dict.fromkeys(("seq", "at", "code", "outcome", *FIELDS))
_NAMES = frozenset({"code", "outcome", *FIELDS})

GENESIS = "0" * 64
"""``prev`` of the very first record."""

_NOTHING = hashlib.sha256()
"""To be copied: a new one takes the library twice as long, and three are needed for a call."""

MAX_VALUE_BYTES = 65_536
"""A recorded value is at most this long as JSON; of a longer one only size and digest are kept."""


_NONE, _FULL = AuditLevel.NONE, AuditLevel.FULL  # names are found sooner than members

MAX_TEXT = 1_024
"""Characters of a field that is text, such as the name that was called; what is longer is cut, and ends with ``…``."""
_SURELY_SHORT = MAX_TEXT + len(orjson.dumps(_BLANK))
"""A line of no more bytes has no text that is too long."""


def compose(
    seq: int, at: str, code: str, outcome: str, fields: Mapping[str, Any], prev: str
) -> tuple[dict[str, Any], bytes]:
    """The record and its line. Fields beyond `FIELDS` stand together under ``details``, before ``prev``; ``code`` and
    ``outcome`` may be among them."""
    record = _BLANK.copy()
    if _NAMES.issuperset(fields):
        record.update(fields)
    else:
        record.update((name, value) for name, value in fields.items() if name in _NAMES)
        record["details"] = {name: value for name, value in fields.items() if name not in _NAMES}
    if record["host_calls"] is None:
        record["host_calls"] = []
    # `str`, for what it says: of a member of an enumeration everything else takes several times as long
    record["seq"], record["at"], record["code"], record["outcome"] = seq, at, str(code), str(outcome)
    record["prev"] = prev
    line = orjson.dumps(record)
    if len(line) > _SURELY_SHORT:
        bounded = {name: _cut(value) for name, value in fields.items()}
        if bounded != fields:
            return compose(seq, at, code, outcome, bounded, prev)
    return record, line


def _cut(value: Any) -> Any:
    return cut(value, MAX_TEXT) if type(value) is str else value


def _digest(data: bytes) -> str:
    begun = _NOTHING.copy()
    begun.update(data)
    return begun.hexdigest()


line_hash: Final = _digest
"""What the next record's ``prev`` is: SHA-256 over the exact bytes of a line, its newline not included."""


def canonical(value: Any) -> bytes:
    """Compact JSON with its keys sorted, so that equal values are equal bytes. Raises `TypeError`, as `orjson` does."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def measured(value: Any, level: AuditLevel, data: bytes | None = None) -> dict[str, Any] | None:
    """What a record keeps of an input or output. ``data`` is the value as `canonical` has it, where that is known.

    ``none`` keeps nothing; ``metadata_only`` the size as `canonical` JSON and its SHA-256; ``full`` also the value,
    secrets redacted, unless it is longer than `MAX_VALUE_BYTES`.
    """
    if level is _NONE:
        return None
    try:
        data = canonical(value) if data is None else data
    except TypeError:  # refused before it got anywhere, but the refusal is recorded
        return {"bytes": None, "digest": None}
    kept: dict[str, Any] = {"bytes": len(data), "digest": _digest(data)}
    if level is _FULL and len(data) <= MAX_VALUE_BYTES:
        kept["value"] = redact(value)
    return kept
