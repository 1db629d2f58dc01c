"""The audit log read from its files, with or without a runtime: searches, exports, and exports from elsewhere."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evatui.control.failing import CommandFailed
from evatui.control.params import Params, read_short
from evatui.kernel.model.clock import rfc3339
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.exporting import exported, verify_export
from evatui.kernel.records.head import Seal
from evatui.kernel.records.search import Filter, find
from evatui.kernel.registry.state_folder import AUDIT_DIR

if TYPE_CHECKING:
    from evatui.kernel.workspace.home import OperatorHome
    from evatui.kernel.workspace.layout import Layout

__all__ = ["export_lines", "read_filter", "searched", "verify_file"]

_AGO = re.compile(r"(\d{1,6})([smhd])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def read_filter(params: Params, now: dt.datetime) -> Filter | None:
    """None where nothing is asked for. Raises `CommandFailed`."""
    given = {name: read_short(params, name) for name in Filter.__slots__}
    if not any(value is not None for value in given.values()):
        return None
    for name in ("since", "until"):
        if (text := given[name]) is not None:
            given[name] = _moment(name, text, now)
    return Filter(**given)


def searched(directory: Path, wanted: Filter, limit: int) -> dict[str, Any]:
    """The newest ``limit`` that match, oldest first, and whether there are more. Blocking."""
    with _readable():
        found = [record for record, _ in islice(find(directory, wanted), limit + 1)]
    return {"records": found[:limit][::-1], "more": len(found) > limit}


def export_lines(layout: Layout, home: OperatorHome, params: Params, now: dt.datetime) -> Iterator[bytes]:
    """Lines with their newlines: all of the log with its signed head, or what matches, the newest first. Blocking."""
    directory = layout.state_dir / AUDIT_DIR
    wanted = read_filter(params, now)
    with _readable():
        if wanted is None:
            yield from exported(directory, Seal(home.audit_folder, directory))
        else:
            yield from (line + b"\n" for _, line in find(directory, wanted))


def verify_file(path: Path, key: str | None) -> dict[str, Any]:
    """Of an export. Blocking."""
    with _readable(), path.open("rb") as file:
        return verify_export(file, clean_line(path.name, 200), key).to_json()


def _moment(name: str, text: str, now: dt.datetime) -> str:
    """A time as records have it: what is given in RFC 3339 (a date alone begins the day), or so long ago."""
    try:
        if match := _AGO.fullmatch(text):
            return rfc3339(now - dt.timedelta(**{_UNITS[match[2]]: int(match[1])}))
        moment = dt.datetime.fromisoformat(text)
        return rfc3339(moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC))
    except (ValueError, OverflowError):
        wanted = "a time such as 2026-01-31T12:00:00Z, or how long ago: 90s, 15m, 2h, 7d"
        raise CommandFailed(ErrorKind.INVALID_INPUT, f"{name} must be {wanted}") from None


class _readable:
    """Turns what the disk refuses into `CommandFailed`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            reason = error.strerror.lower() if error.strerror else str(error)
            raise CommandFailed(ErrorKind.UNAVAILABLE, f"the audit log cannot be read: {reason}") from None
