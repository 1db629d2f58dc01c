"""Signing plugins, for whoever makes them: no runtime is needed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["make_key", "sign_plugin"]


def make_key(file: Path) -> dict[str, Any]:
    """A new key in ``file``, for its owner alone: ``{file, key}``, where ``key`` is the public half. Blocking.

    Raises `CommandFailed` where there is something already, or it cannot be written.
    """
    from evatui.kernel.records.signing import SigningKey

    place = file.expanduser()
    if os.path.lexists(place):
        raise CommandFailed(ErrorKind.CONFLICT, f"{clean_line(str(file), 200)} is there already")
    try:
        return {"file": str(file), "key": SigningKey.of_file(place).public}
    except OSError as error:
        raise _failed(f"{clean_line(str(file), 200)} cannot be written", error) from None


def sign_plugin(folder: Path, key: Path) -> dict[str, Any]:
    """Writes the signature of the plugin in ``folder``: ``{name, key, files, file}``. Blocking.

    Raises `CommandFailed` for a plugin that would be refused, and for a key that cannot be used.
    """
    from contextlib import closing

    from evatui.extensions.plugins.package import SIGNATURE_FILE, PackageProblem, read_files
    from evatui.extensions.plugins.plugin import NoPlugin, understood
    from evatui.extensions.plugins.signature import sealed
    from evatui.extensions.shared.layers import Layer, LayerKind
    from evatui.kernel.records.signing import SigningKey
    from evatui.kernel.workspace.files import Tree

    place, file = folder.expanduser(), key.expanduser()
    shown = clean_line(str(folder), 200)
    try:
        if not file.is_file():
            raise CommandFailed(ErrorKind.NOT_FOUND, f"there is no key {clean_line(str(key), 200)}")
        secret = SigningKey.of_file(file)
        with closing(Tree(place.resolve().parent)) as tree:
            name = place.resolve().name
            (place / SIGNATURE_FILE).unlink(missing_ok=True)  # one that does not fit any more would be refused
            files = read_files(tree, name)
            layer = Layer(name, LayerKind.EXTRA, place.resolve().parent, name, shown)
            found = understood(layer, name, shown, files)
    except PackageProblem as problem:
        raise CommandFailed(ErrorKind.INVALID_INPUT, f"{shown} cannot be signed: {problem}") from None
    except OSError as error:
        raise _failed(f"{shown} cannot be signed", error) from None
    if isinstance(found, NoPlugin):
        context = {"diagnostics": [one.to_json() for one in found.diagnostics]}
        raise CommandFailed(
            ErrorKind.INVALID_INPUT, f"{shown} is no sound plugin: {found.diagnostics[0].message}", context=context
        )
    try:
        (place / SIGNATURE_FILE).write_bytes(sealed(files.files, secret))
    except OSError as error:
        raise _failed(f"{shown} cannot be signed", error) from None
    return {
        "name": found.name,
        "key": secret.public,
        "files": len(files.files),
        "file": f"{folder}/{SIGNATURE_FILE}",
    }


def _failed(what: str, error: OSError) -> CommandFailed:
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    return CommandFailed(ErrorKind.UNAVAILABLE, f"{what}: {reason}")
