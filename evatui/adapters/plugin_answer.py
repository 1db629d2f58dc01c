"""What a plugin has written when it ended, read as an answer; its files only as far as they lie in its work folder."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from evatui.kernel.host.ports import Finished
from evatui.kernel.model.errors import ErrorKind, Origin, failure
from evatui.kernel.model.text import clean, clean_line

__all__ = ["answer_of"]

_NAMED: Final = re.compile(r"^[ \t]{0,8}(?:Report saved to|Generated(?: [A-Za-z]{1,12})?): ?(.{1,1000})$", re.MULTILINE)
_MAX_FILES: Final = 200
_MAX_DETECTED: Final = 20
_MESSAGE: Final = 1_000
_SIGNALS: Final = range(129, 193)


@dataclass(frozen=True, slots=True)
class _Said:
    """``named``: it says itself which files there are."""

    output: str
    success: bool
    modified: str | None
    send: tuple[str, ...]
    named: bool


def answer_of(
    who: str, finished: Finished, payload: Any, work: Path, shown: str, package: tuple[Path, str]
) -> dict[str, Any]:
    """``{output, success, file_modified, files_to_send, files: [{path, bytes, detected}], work_dir}``: paths are
    relative to the work folder, which is shown as ``shown``. ``package`` is where it ran, and how that is shown. Looks
    at the disk: for a thread.

    Raises `CallFailed`: ``HandlerError`` where it says or shows that it failed, ``HostError`` where it was killed,
    ``InvalidResponse`` for half an answer, for one of another form, and for a file that is not its own.
    """
    if finished.code in _SIGNALS:
        number = finished.code - 128
        raise failure(ErrorKind.HOST_ERROR, f"{who} was ended by the signal {number}{_last(finished)}")
    said = _said(who, finished)
    if not said.success:
        told = said.output.strip().replace(str(package[0]), package[1]).replace(str(work), shown)
        message = clean(told, _MESSAGE) or f"{who} failed with the status {finished.code}"
        raise failure(ErrorKind.HANDLER_ERROR, message, origin=Origin.HANDLER.value, status=finished.code)
    modified = [_inside(who, "file_modified", said.modified, work)] if said.modified else []
    send = [_inside(who, "files_to_send", path, work) for path in said.send]
    detected = [] if said.named else list(_detected(said.output, payload, work))
    files = dict.fromkeys((*modified, *send), False) | dict.fromkeys(detected, True)
    return {
        "output": said.output,
        "success": True,
        "file_modified": modified[0] if modified else None,
        "files_to_send": [*send, *detected],
        "files": [
            {"path": path, "bytes": (work / path).lstat().st_size, "detected": found} for path, found in files.items()
        ],
        "work_dir": shown,
    }


def _said(who: str, finished: Finished) -> _Said:
    text = finished.stdout.decode(errors="replace")
    well = finished.code == 0
    try:
        value = orjson.loads(finished.stdout)
    except ValueError:
        if well and _is_half(text):
            raise failure(ErrorKind.INVALID_RESPONSE, f"{who} began an answer in JSON and did not end it") from None
        errors = finished.stderr.decode(errors="replace")
        return _Said("\n".join(part for part in (text, errors) if part), well, None, (), False)
    if not isinstance(value, dict):
        return _Said(text, well, None, (), False)
    return _Said(
        _field(who, value, "output", str, text),
        _field(who, value, "success", bool, well) and well,
        _field(who, value, "file_modified", str, None),
        _paths(who, value),
        bool(value.get("file_modified") or value.get("files_to_send")),
    )


def _field(who: str, value: Mapping[str, Any], name: str, kind: type, absent: Any) -> Any:
    found = value.get(name)
    if found is None:
        return absent
    if not isinstance(found, kind):
        wanted = {str: "text", bool: "true or false"}[kind]
        raise failure(ErrorKind.INVALID_RESPONSE, f"{who} must answer {name} as {wanted}")
    return found


def _paths(who: str, value: Mapping[str, Any]) -> tuple[str, ...]:
    found = value.get("files_to_send") or []
    if not isinstance(found, list) or not all(isinstance(path, str) for path in found) or len(found) > _MAX_FILES:
        message = f"{who} must answer files_to_send as a list of at most {_MAX_FILES} paths"
        raise failure(ErrorKind.INVALID_RESPONSE, message)
    return tuple(dict.fromkeys(found))


def _is_half(text: str) -> bool:
    """JSON that ends before it is over, and not text that happens to begin with a brace."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    except RecursionError:
        return True
    except ValueError:
        return False  # a number of more digits than anybody reads
    return False


def _inside(who: str, field: str, path: str, work: Path) -> str:
    """Relative to the work folder. Raises ``InvalidResponse``, which does not tell where else it leads."""
    found = _relative(path, work)
    if found is None:
        raise failure(ErrorKind.INVALID_RESPONSE, f"{who}: {field} names what is no file of its work folder")
    return found


def _relative(path: str, work: Path) -> str | None:
    """None for what is no regular file in there with that one name alone, links resolved."""
    try:
        real = Path(os.path.realpath(work / path, strict=True))
        found = real.lstat()
        inside = real.relative_to(os.path.realpath(work)).as_posix()
    except (OSError, ValueError):
        return None
    fits = stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and inside.isprintable()
    return inside if fits else None


def _detected(output: str, payload: Any, work: Path) -> Iterator[str]:
    """Where it names no file: the argument ``out``, else what its output says that it has written."""
    out = payload.get("out") if isinstance(payload, dict) else None
    given = _relative(out, work) if isinstance(out, str) and out and "\0" not in out else None
    if given is not None:
        yield given
        return
    lines = (found[1] for _, found in zip(range(_MAX_DETECTED), _NAMED.finditer(output), strict=False))
    yield from dict.fromkeys(path for line in lines if (path := _relative(line.strip(), work)) is not None)


def _last(finished: Finished) -> str:
    lines = [line for line in finished.stderr.decode(errors="replace").splitlines() if line.strip()]
    return f": {clean_line(lines[-1].strip(), 300)}" if lines else ""
