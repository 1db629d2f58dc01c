"""``docs/commands.md``, made from the table of ``eva``: ``python -m tests.docs.commands_page`` writes it."""

from __future__ import annotations

from pathlib import Path

import click

from evatui.cli.options import Word
from evatui.cli.table import TABLE, Line, shown
from evatui.cli.words import eva
from evatui.control.commands import COMMANDS

__all__ = ["PAGE", "command_of", "page"]

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
_HEAD = """\
# Commands

Made from the table that `eva` itself uses; `eva COMMAND --help` prints the same.

Every command takes, before or after its words:

| option | |
|---|---|
"""
_ENDS = """
If a runtime holds the workspace, a command goes to it. Otherwise those that look, and `call`, start one for the moment,
and those that change a running runtime exit with 4. With `-o json` there is one object on standard output,
`{"ok", "command", "exit_code", "data"}` and, where it failed, `"error": {kind, message, retryable, suggestion,
context}`;
`serve`, `audit export` and `--follow` write one object a line.

| exit code | of every command |
|---|---|
| 0 | done |
| 1 | a defect of `eva`, or the answer could not be written |
| 2 | invalid input or workspace, not found, a conflict, something was refused |
| 3 | the policy says no, or something waits for approval |
| 4 | no runtime where one is needed, unavailable, a state folder or audit log that cannot be read or written |
| 5 | a limit: time, memory, output, calls at once; or it was cancelled, as by ctrl+c |
| 6 | the handler answered with an error |
| 10 | `reload --exit-code`, and something changed or would change |
| 64 | the words or options are not understood |
"""


def command_of(line: Line) -> click.Command:
    found: click.Command = eva
    for word in line.words.split():
        assert isinstance(found, click.Group)
        member = found.get_command(click.Context(found), word)
        assert member is not None, word
        found = member
    return found


def page() -> str:
    shared = [parameter for parameter in Word("x").params if isinstance(parameter, click.Option)]
    rows = [_option(option) for option in shared]
    parts = [_HEAD + "\n".join(rows) + "\n" + _ENDS]
    parts += [_section(line, {option.name for option in shared}) for line in TABLE.values()]
    return "\n".join(parts)


def _section(line: Line, shared: set[str | None]) -> str:
    command = command_of(line)
    told = [" ".join(text.split()) for text in (command.help or "").split("\n\n")]
    options = [one for one in command.params if isinstance(one, click.Option) and one.name not in shared]
    words = [one.make_metavar(click.Context(command)) for one in command.params if isinstance(one, click.Argument)]
    usage = " ".join([f"eva {line.words}", *words, *(["[OPTIONS]"] if options else [])])
    lines = [f"## {line.words}", "", f"`{usage}`", "", *(text + "\n" for text in told)]
    if options:
        lines += ["| option | |", "|---|---|", *map(_option, options), ""]
    if line.asks and COMMANDS[line.asks].needs_runtime:
        lines += ["Needs a runtime that holds the workspace.", ""]
    lines += ["```", *map(shown, line.examples), "```", ""]
    return "\n".join(lines)


def _option(option: click.Option) -> str:
    metavar = "" if option.is_flag else f" {option.make_metavar(click.Context(click.Command('x')))}"
    names = ", ".join(option.opts)
    return f"| `{_cell(names + metavar)}` | {_cell(option.help or '')} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
