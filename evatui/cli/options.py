"""The options that every command takes, before or after its words."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evatui.cli.early import at_work
from evatui.cli.folder import Folder
from evatui.cli.table import TABLE, shown

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from evatui.cli.session import Connect
    from evatui.control.opening import OpenMode
    from evatui.control.operator import OnProgress, Operator

__all__ = ["Member", "Settings", "Word", "Words"]

# What opens a runtime is imported by the first command that asks one: help and completion wait for nothing else.


async def _connect(mode: OpenMode, workspace: Path | None, state_dir: Path | None) -> Operator:
    from evatui.cli.session import connect

    return await connect(mode, workspace, state_dir)


@dataclass(slots=True)
class Settings:
    """Filled in while the words are read, so that what is known can be used when a later word is wrong."""

    connect: Connect = _connect
    workspace: Path | None = None
    output: str = "text"
    state_dir: Path | None = field(default_factory=lambda: Path(d) if (d := os.environ.get("EVA_STATE_DIR")) else None)
    no_color: bool = field(default_factory=lambda: bool(os.environ.get("NO_COLOR")))
    command: str = ""

    @property
    def json(self) -> bool:
        return self.output == "json"

    def ask(self, command: str, **params: Any) -> dict[str, Any]:
        """The data of a command of `evatui.control.commands`; raises `CommandFailed`.

        A person who waits long for it sees for how long.
        """
        from evatui.cli.progress import waited_for
        from evatui.cli.session import asked, finish

        work = asked(self.connect, self.workspace, self.state_dir, command, **params)
        return finish(waited_for(self, f"eva {self.command}", work))

    def call(self, on_progress: OnProgress | None, **params: Any) -> dict[str, Any]:
        """`ask` for ``capability.call``, told meanwhile how far the call has come."""
        from evatui.cli.session import ask

        return ask(self.connect, self.workspace, self.state_dir, "capability.call", on_progress, **params)


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """An option that is not given leaves alone what was given before the command words."""
    if value is not None and parameter.name is not None:
        setattr(context.find_object(Settings), parameter.name, value)


def _shared() -> list[click.Parameter]:
    def option(*names: str, **settings: Any) -> click.Option:
        return click.Option(names, default=None, expose_value=False, callback=_keep, **settings)

    folder = Folder()
    return [
        option("-w", "--workspace", type=folder, metavar="DIR", help="The workspace; default: the nearest one upward."),
        option("-o", "--output", type=click.Choice(["text", "json"]), is_eager=True, help="Text, or one JSON object."),
        option("--state-dir", type=folder, metavar="DIR", help="Where state is kept instead of .eva (EVA_STATE_DIR)."),
        option("--no-color", is_flag=True, help="No colours, as with NO_COLOR."),
    ]


def _begin(context: click.Context) -> None:
    settings = context.find_object(Settings)
    if settings is not None:
        settings.command = " ".join(context.command_path.split()[1:])


class Word(click.Command):
    """A command with the shared options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(_shared())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _begin(ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        importlib.import_module("evatui.cli.ending")  # what tells of an interruption is there before there can be one
        at_work()
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        line = TABLE.get(" ".join(ctx.command_path.split()[1:]))
        if line is not None:
            with formatter.section("Examples"):
                for example in line.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{shown(example)}\n")


@dataclass(frozen=True, slots=True)
class Member:
    """A command that is imported when it is wanted: ``place`` is ``module:name``, ``about`` what a list says of it."""

    place: str
    about: str


class Words(click.Group):
    """A group with the shared options, whose members have them too."""

    command_class = Word
    group_class = type

    def __init__(self, *args: Any, members: Mapping[str, Member] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(_shared())
        self._members = members or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *self._members})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        member = self._members.get(cmd_name)
        if member is not None and cmd_name not in self.commands:
            module, _, name = member.place.partition(":")
            self.commands[cmd_name] = getattr(importlib.import_module(module), name)
        return super().get_command(ctx, cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a shell offers is said by the list: nobody who presses tab waits for a command to be imported."""
        if not self._members:
            return super().shell_complete(ctx, incomplete)
        from click.shell_completion import CompletionItem

        known = sorted((name, member) for name, member in self._members.items() if name.startswith(incomplete))
        offered = [CompletionItem(name, help=member.about) for name, member in known]
        return [*offered, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self._members:
            with formatter.section("Commands"):
                formatter.write_dl([(name, member.about) for name, member in sorted(self._members.items())])
        else:
            super().format_commands(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _begin(ctx)
        return super().parse_args(ctx, args)
