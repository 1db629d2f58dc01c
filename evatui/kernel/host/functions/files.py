"""Reading and writing files."""

from __future__ import annotations

from typing import Any

from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.asker import Asker, HostCall
from evatui.kernel.host.files import Place
from evatui.kernel.host.glob import Glob
from evatui.kernel.workspace.writing import WriteMode

__all__ = ["fs_list", "fs_read_json", "fs_read_text", "fs_write_text"]

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


def fs_write_text(asker: Asker, given: Arguments, call: HostCall) -> dict[str, int]:
    place = _place(asker, given, call, writes=True)
    text, mode = given.take_text("text", limit=_MAX_BYTES, empty=True), given.take_choice("mode", WriteMode.REPLACE)
    given.done()
    asker.files.check_writing(place)
    asker.announce(call)
    return {"bytes": asker.files.write_text(place, text, mode, _MAX_BYTES)}


def _to_read(asker: Asker, given: Arguments, call: HostCall) -> tuple[Place, int]:
    place, max_bytes = _place(asker, given, call), given.take_number("max_bytes", _DEFAULT_BYTES, 1, _MAX_BYTES)
    given.done()
    return place, max_bytes or 0


def _place(asker: Asker, given: Arguments, call: HostCall, *, writes: bool = False) -> Place:
    path, root = given.take_text("path", limit=_MAX_PATH), given.take_text("root", "workspace", limit=128)
    granted = asker.scope.permissions().fs
    place = Place(root, path, granted.write, "fs.write") if writes else Place(root, path, granted.read)
    call.target = place.shown
    return place
