"""What a person gives on the command line, read and checked: payloads and tags."""

from __future__ import annotations

import json
import math
import sys
from typing import Any, BinaryIO, NoReturn

import click

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["GUARD", "Payload", "Tag"]

GUARD = click.option(
    "--if-generation", metavar="GENERATION", help="Refuse where another generation serves, or is tried out, by now."
)

_LIMIT = 16 * 1024 * 1024


class Payload(click.ParamType[Any]):
    """``JSON``, ``@FILE`` or ``-`` for stdin. What cannot be read is `CommandFailed`, not a usage error."""

    name = "JSON|@FILE|-"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = str(value)
        if text == "-":
            return _from_stdin()
        if not text.startswith("@"):
            return _parse(text.encode("utf-8", "surrogatepass"), "--payload")
        place = clean_line(text[1:], 200)
        try:
            with open(text[1:], "rb") as file:
                return _parse(_read(file, place), place)
        except (OSError, ValueError) as problem:
            raise _unreadable(place, problem, "that is no file name") from problem


class Tag(click.ParamType[tuple[str, str]]):
    """``KEY=VALUE``."""

    name = "KEY=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        key, sign, text = str(value).partition("=")
        if not key or not sign:
            self.fail(f"{clean_line(str(value), 80)!r} is not KEY=VALUE", param, ctx)
        return key, text


def _from_stdin() -> Any:
    if sys.stdin is None:  # as the shell's `<&-` leaves it
        raise CommandFailed(ErrorKind.INVALID_INPUT, "stdin cannot be read: it is closed")
    try:
        return _parse(_read(sys.stdin.buffer, "stdin"), "stdin")
    except (OSError, ValueError) as problem:
        raise _unreadable("stdin", problem, "it is closed") from problem


def _unreadable(place: str, problem: Exception, otherwise: str) -> CommandFailed:
    reason = getattr(problem, "strerror", None) or otherwise
    return CommandFailed(ErrorKind.INVALID_INPUT, f"{place} cannot be read: {reason}")


def _read(file: BinaryIO, place: str) -> bytes:
    data = file.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise CommandFailed(ErrorKind.INPUT_TOO_LARGE, f"{place} holds more than {_LIMIT} bytes")
    return data


def _parse(data: bytes, place: str) -> Any:
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError as problem:
        raise _invalid(place, "it is nested too deeply") from problem
    except UnicodeDecodeError as problem:
        raise _invalid(place, f"it is not UTF-8 at byte {problem.start}") from problem
    except ValueError as problem:
        raise _invalid(place, str(problem)) from problem


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large a number")
    return number


def _invalid(place: str, why: str) -> CommandFailed:
    return CommandFailed(
        ErrorKind.INVALID_INPUT,
        f"{place} is not JSON: {clean_line(why)}",
        suggestion="""--payload '{"topic": "x"}', or @FILE, or - for stdin""",
    )
