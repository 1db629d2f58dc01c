"""What a person who is asked for help wants to see of a runtime, as the files of one archive, with secrets cleaned."""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.operator import Operator
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.redact import REDACTED, is_secret_key, redact

__all__ = ["PARTS", "cleaned", "collected", "write_archive"]

PARTS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "status.json": ("status", {}),
    "doctor.json": ("doctor", {}),
    "capabilities.json": ("capability.list", {}),
    "plan.json": ("capability.plan", {}),
    "diagnostics.json": ("capability.explain_rejected", {}),
    "graph.json": ("capability.graph", {}),
    "audit.json": ("audit.tail", {"limit": 200}),
    "events.json": ("events", {}),
    "metrics.json": ("metrics", {}),
}
_SHORTEST = 6
"""Characters: a shorter value of an environment variable is more likely to be a word than a secret."""


async def collected(operator: Operator) -> dict[str, Any]:
    """Each part by its name; one that cannot be had is ``{"error": …}``, and holds up no other."""
    found: dict[str, Any] = {}
    for name, (command, params) in PARTS.items():
        try:
            found[name] = await operator.run(command, **params)
        except CommandFailed as failed:
            found[name] = {"error": failed.to_json()}
    return found


def cleaned(part: Any, folders: Mapping[str, Path | None], environment: Mapping[str, str]) -> bytes:
    """A part as JSON, or text as it is; without secrets by their names and looks, values of secret variables of
    ``environment``, and the places of the home folder and of ``folders``, which are shown by their names there.
    """
    text = part if isinstance(part, str) else json.dumps(redact(part), ensure_ascii=False, indent=2) + "\n"
    hidden = [value for name, value in environment.items() if is_secret_key(name) and len(value) >= _SHORTEST]
    known = {**folders, "runtime folder": _folder(environment, "XDG_RUNTIME_DIR")}
    places = {str(one): f"<{name}>" for name, path in known.items() if path for one in (path, path.resolve())}
    if home := environment.get("HOME"):
        places[home] = "~"
    for value in sorted(hidden, key=len, reverse=True):
        text = text.replace(value, REDACTED).replace(json.dumps(value)[1:-1], REDACTED)
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(place, places[place]) if len(place) > 1 else text
    return text.encode("utf-8", "replace")


def _folder(environment: Mapping[str, str], name: str) -> Path | None:
    return Path(value) if (value := environment.get(name)) else None


def write_archive(file: Path, parts: Mapping[str, bytes]) -> None:
    """A new zip of mode 0600, all of it or nothing; blocking.

    Raises `CommandFailed`: ``Conflict`` where ``file`` exists, ``InvalidInput`` where it cannot be written.
    """
    shown = clean_line(str(file), 200)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise CommandFailed(ErrorKind.CONFLICT, f"{shown} exists: nothing is overwritten") from None
    except (OSError, ValueError) as problem:
        raise _unwritable(shown, problem) from None
    try:
        with os.fdopen(descriptor, "wb") as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in parts.items():
                archive.writestr(name, data)
    except BaseException as problem:  # a person who breaks it off wants no half of it either
        with contextlib.suppress(OSError):
            file.unlink()
        if isinstance(problem, OSError):
            raise _unwritable(shown, problem) from None
        raise


def _unwritable(shown: str, problem: Exception) -> CommandFailed:
    why = problem.strerror if isinstance(problem, OSError) else "that is no file name"
    return CommandFailed(ErrorKind.INVALID_INPUT, f"{shown} cannot be written: {why}")
