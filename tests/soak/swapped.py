"""Somebody rewrites a plugin's program again and again, in place and by exchange, while it is looked at and started."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import subprocess
import threading
from pathlib import Path

from evatui.extensions.plugins.catalogue import Rules
from evatui.extensions.plugins.layers import plugin_layers
from evatui.extensions.plugins.package import PackedFile, digest_of
from evatui.extensions.plugins.plugins import Plugins
from evatui.extensions.plugins.verified import Verified
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.workspace.layout import open_layout
from tests.support.plugins import plugin, program
from tests.support.workspaces import write

__all__ = ["swaps"]

_SOURCE = '#!/bin/sh\necho "{}"; sha256sum < "$0"\n'
_WORDS = ("one", "two", "three")


async def swaps(root: Path, tries: int) -> list[str]:
    """What went wrong in so many starts: a program ran that is not what was hashed."""
    folder = plugin(root, "ring", _SOURCE.format("one"))
    manifest = (folder / "manifest.json").read_bytes()
    known = dict(_closure(manifest, word) for word in (*_WORDS, ""))
    write(root, {"eva.yaml": "version: 1\n"})
    verified = Verified(root / "verified")
    layers = plugin_layers(open_layout(root), None)
    plugins = Plugins(layers, Rules, {}, verified, lambda *told: None, lasting=True)
    await plugins.look()
    ended = threading.Event()
    swapping = threading.Thread(target=_swap, args=(folder / "ring", ended))
    swapping.start()
    try:
        return [wrong for _ in range(tries) if (wrong := await _tried(plugins, verified, known))]
    finally:
        ended.set()
        swapping.join()


def _closure(manifest: bytes, word: str) -> tuple[str, tuple[str, ...]]:
    """The digest of the whole plugin, with the word that it says then and the digest of its program.

    An empty one says nothing.
    """
    source = _SOURCE.format(word) if word else ""
    program_digest = hashlib.sha256(source.encode()).hexdigest()
    files = [
        PackedFile("manifest.json", hashlib.sha256(manifest).hexdigest(), len(manifest), False),
        PackedFile("ring", program_digest, 0, True),
    ]
    return digest_of(files), (word, program_digest) if word else ()


async def _tried(plugins: Plugins, verified: Verified, known: dict[str, tuple[str, ...]]) -> str:
    """Empty where what ran is what its folder was named after; or where nothing ran, since it had changed."""
    (found,) = plugins.latest.plugins
    looking = asyncio.create_task(plugins.look())
    try:
        with verified.held(found.plugin):
            place = verified.make(found.plugin)
            said = await asyncio.to_thread(_run, place / "ring")
    except CallFailed as failed:
        return "" if failed.error.details.get("reason") == "integrity_mismatch" else failed.error.message
    finally:
        await looking
    wanted = known.get(found.plugin.digest)
    return "" if wanted == said else f"{said} ran as {found.plugin.digest}"


def _run(program: Path) -> tuple[str, ...]:
    """What it says of itself; nothing where it is empty, which a save that was held up may have left."""
    while True:
        try:
            ran = subprocess.run([program], capture_output=True, text=True)
            return tuple(ran.stdout.split()[:2])
        except OSError as error:
            if error.errno == errno.ENOEXEC:
                return ()
            if error.errno != errno.ETXTBSY:  # somebody was forked while the copy was written
                raise


def _swap(file: Path, ended: threading.Event) -> None:
    """In place, where the inode stays and for a moment only half of it is there; then by another file of that name."""
    turn = 0
    while not ended.is_set():
        word = _WORDS[turn % len(_WORDS)]
        turn += 1
        if turn % 2:
            file.write_text(_SOURCE.format(word))
        else:
            program(file, _SOURCE.format(word))
        ended.wait(0.005)
