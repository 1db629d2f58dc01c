"""How a command line ends: what came of it is said, as text or as one JSON object, and becomes an exit code."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence

import click

from evatui.cli.answer import Answer
from evatui.cli.early import wants_json
from evatui.cli.options import Settings
from evatui.cli.screen import Screen
from evatui.cli.session import Interrupted
from evatui.control.exits import Exit, exit_for
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["failed", "told"]


def failed(settings: Settings, arguments: Sequence[str], problem: Exception) -> int:
    """``arguments`` are the line as it was given: where it cannot be parsed, that it wants JSON is seen from them."""
    match problem:
        case click.UsageError():
            if wants_json(arguments):
                settings.output = "json"
            return _fail(settings, _usage(problem), Exit.USAGE)
        case click.Abort() | Interrupted():
            return _fail(settings, CommandFailed(ErrorKind.CANCELLED, "interrupted"), Exit.LIMIT)
        case CommandFailed():
            if problem.kind is ErrorKind.INTERNAL:
                _debug(problem)
            return _fail(settings, problem, exit_for(problem))
        case _:
            return _fail(settings, _internal(problem), Exit.INTERNAL)


def told(settings: Settings, answer: Answer) -> int:
    screen = Screen(color=not settings.no_color)
    if settings.json:
        screen.object(_envelope(settings, answer.exit_code, answer.data, answer.failed))
    else:
        answer.show(screen)
        if answer.failed:
            _say(screen, answer.failed)
    return int(answer.exit_code)


def _fail(settings: Settings, failed: CommandFailed, code: Exit) -> int:
    screen = Screen(color=not settings.no_color)
    if settings.json:
        screen.object(_envelope(settings, code, failed.data, failed))
    else:
        _say(screen, failed)
    return int(code)


def _envelope(settings: Settings, code: Exit, data: object, failed: CommandFailed | None) -> dict[str, object]:
    envelope = {"ok": failed is None, "command": settings.command, "exit_code": int(code), "data": data}
    return envelope | {"error": failed.to_json()} if failed else envelope


def _say(screen: Screen, failed: CommandFailed) -> None:
    screen.note(f"error: {failed.message}", "bold red")
    for found in failed.context.get("diagnostics") or ():
        for line in found["rendered"].splitlines() if found["spans"] else ():
            screen.note(line, "")
    if failed.hint:
        screen.note(failed.hint, "")


def _usage(problem: click.UsageError) -> CommandFailed:
    words = problem.ctx.command_path if problem.ctx else "eva"
    # click's own message for a bare group is the whole help page.
    bare = isinstance(problem, click.exceptions.NoArgsIsHelpError)
    message = f"{words} wants one more word: what to do" if bare else clean_line(problem.format_message())
    return CommandFailed(ErrorKind.INVALID_INPUT, message, suggestion=f"{words} --help")


def _internal(problem: Exception) -> CommandFailed:
    """A defect of the program. Its text is for whoever sets EVA_DEBUG, since it may name anything."""
    _debug(problem)
    message = f"something went wrong inside eva ({type(problem).__name__})"
    return CommandFailed(ErrorKind.INTERNAL, message, suggestion="the same with EVA_DEBUG=1 set shows where")


def _debug(problem: BaseException) -> None:
    if os.environ.get("EVA_DEBUG"):
        traceback.print_exception(problem)
