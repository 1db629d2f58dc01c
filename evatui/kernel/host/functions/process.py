"""Starting commands."""

from __future__ import annotations

import asyncio
import shlex
from typing import Any

from evatui.kernel.admission.redact import veiled_words
from evatui.kernel.host.arguments import Arguments
from evatui.kernel.host.asker import Asker, HostCall
from evatui.kernel.host.ports import Command
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.permissions import covers_command
from evatui.kernel.model.text import clean_line

__all__ = ["spawn_process"]

_MAX_WORDS = 256
_MAX_CHARS = 65_536
_MAX_STDIN = 1_048_576
_MAX_OUTPUT = 1_048_576
_DEFAULT_MS = 30_000
_MAX_MS = 600_000


async def spawn_process(asker: Asker, given: Arguments, call: HostCall) -> dict[str, Any]:
    argv = given.take_words("argv", most=_MAX_WORDS, limit=_MAX_CHARS)
    stdin = given.take_text("stdin", "", limit=_MAX_STDIN, empty=True).encode()
    timeout_ms = given.take_number("timeout_ms", _DEFAULT_MS, 1, _MAX_MS) or _DEFAULT_MS
    given.done()
    call.target = clean_line(shlex.join(veiled_words(argv)), 1_000)
    if any("\0" in word for word in argv):
        raise failure(ErrorKind.INVALID_INPUT, "spawn_process: no word of argv may hold a zero byte")
    if not any(covers_command(grant, argv) for grant in asker.scope.permissions().shell.commands):
        message = f"{clean_line(argv[0], 128)} with these words is not granted: shell.commands does not cover it"
        raise failure(ErrorKind.POLICY_DENIED, message)
    await asyncio.to_thread(asker.announce, call)
    command = Command(argv, stdin, asker.parts.layout.root, _MAX_OUTPUT)
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            done = await asker.parts.outside.processes.run(command)
    except TimeoutError:
        message = f"{clean_line(argv[0], 128)} was ended: it took more than {timeout_ms} ms"
        raise failure(ErrorKind.TIMEOUT, message) from None
    return {"code": done.code, "stdout": _text(done.stdout), "stderr": _text(done.stderr)}


def _text(data: bytes) -> str:
    """Whatever is not UTF-8 becomes U+FFFD."""
    return data.decode(errors="replace")
