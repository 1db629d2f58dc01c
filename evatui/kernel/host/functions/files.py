"""Reading files."""

from __future__ import annotations

from typing import Any

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.asker import Asker, HostCall
from evatui.kernel.host.files import Place
from evatui.kernel.host.glob import Glob

__all__ = ["fs_list", "fs_read_json", "fs_read_text"]

_MAX_PATH = 4_096
_DEFAULT_BYTES = 1_048_576
_MAX_BYTES = 16_777_216
_DEFAULT_ENTRIES = 1_000
_MAX_ENTRIES = 10_000


def fs_read_text(asker: Asker, given: Arguments, call: HostCall) -> str:
    place, max_bytes = _to_read(asker, given, call)
    return asker.files.read_text(place, max_bytes)


def fs_read_json(asker: Asker, given: Arguments, call: HostCall) -> Any:
    place, max_bytes = _to_read(asker, given, call)
    return asker.files.read_json(place, max_bytes)


def fs_list(asker: Asker, given: Arguments, call: HostCall) -> list[dict[str, Any]]:
    place = _place(asker, given, call)
    glob = Glob(given.take_text("glob", "*", limit=256))
    limit = given.take_number("limit", _DEFAULT_ENTRIES, 1, _MAX_ENTRIES)
    given.done()
    return asker.files.list_folder(place, glob, limit or 0)


def _to_read(asker: Asker, given: Arguments, call: HostCall) -> tuple[Place, int]:
    place, max_bytes = _place(asker, given, call), given.take_number("max_bytes", _DEFAULT_BYTES, 1, _MAX_BYTES)
    given.done()
    return place, max_bytes or 0


def _place(asker: Asker, given: Arguments, call: HostCall) -> Place:
    path, root = given.take_text("path", limit=_MAX_PATH), given.take_text("root", "workspace", limit=128)
    place = Place(root, path, asker.scope.permissions().fs.read)
    call.target = place.shown
    return place
