"""``evatui``: the console on a terminal, or a picture of it."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evatui.cli.early import at_work, until_at_work
from evatui.console.view.actions import VIEWS, View
from evatui.console.view.words import Look

if TYPE_CHECKING:
    from evatui.console.app import OpenOperator
    from evatui.control.operator import Operator

__all__ = ["main"]

_USAGE = 64
_SIZE = re.compile(r"(\d{2,3})x(\d{2,3})")


class _Size(click.ParamType[tuple[int, int]]):
    name = "COLUMNSxROWS"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        match = _SIZE.fullmatch(str(value))
        if match is None or int(match[1]) < 40 or int(match[2]) < 12:
            self.fail(f"{value!r} is not a size such as 120x36 (40x12 to 999x999)", param, ctx)
        return int(match[1]), int(match[2])


def main() -> None:
    """The entry point; never returns."""
    until_at_work()
    try:
        code = _command.main(standalone_mode=False)
    except click.UsageError as problem:
        problem.show()
        code = _USAGE
    except click.Abort:
        code = 130
    sys.exit(code)


@click.command("evatui", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("workspace", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--readonly", is_flag=True, help="Only look: no key changes or calls anything.")
@click.option("--screenshot", type=click.Path(path_type=Path, dir_okay=False), help="Write a picture (SVG) and end.")
@click.option("--view", type=click.Choice([view.value for view in VIEWS]), help="View to start in.")
@click.option("--size", type=_Size(), default="120x36", show_default=True, help="Of a picture, and of --pace 0.")
@click.option(
    "--demo", is_flag=True, help="A guided tour in a workspace of its own, with a load and simulated devices."
)
@click.option(
    "--pace",
    type=click.FloatRange(0, 100),
    default=1.0,
    show_default=True,
    help="Of the tour: multiplies the time to read; 0 plays it without a terminal, and ends.",
)
@click.option("--ascii", is_flag=True, help="Draw with ASCII signs only.")
@click.option("--theme", help="evatui-dark (default), evatui-light, or a theme of Textual.")
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal.")
@click.option("--attach", is_flag=True, help="Look at the runtime that holds the workspace; leaving ends nothing.")
@click.option("--mcp-http", is_flag=True, help="Serve MCP clients over HTTP as well, where eva.yaml says.")
@click.option("--state-dir", type=click.Path(path_type=Path, file_okay=False), help="State folder instead of .eva.")
@click.version_option(package_name="evatui")
def _command(
    workspace: Path | None,
    readonly: bool,
    screenshot: Path | None,
    view: str | None,
    size: tuple[int, int],
    demo: bool,
    pace: float,
    ascii: bool,
    theme: str | None,
    no_mouse: bool,
    attach: bool,
    mcp_http: bool,
    state_dir: Path | None,
) -> int:
    """Operator console of the workspace in DIR (default: the nearest one upward)."""
    drawn = screenshot is None and not (demo and pace == 0)
    if drawn and os.environ.get("TERM") == "dumb":
        click.echo("evatui cannot draw on this terminal (TERM=dumb); use `eva status` here", err=True)
        return _USAGE
    if drawn and not _has_terminal():
        words = "`eva status`, `evatui --screenshot FILE` or `evatui --demo --pace 0`"
        click.echo(f"evatui needs a terminal; without one use {words}", err=True)
        return _USAGE
    if screenshot is not None:
        # A picture is the same whatever the shell prefers.
        for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_COLOR_SYSTEM"):
            os.environ.pop(name, None)
    from evatui.console.theme import theme_names

    if theme is not None and theme not in theme_names():
        raise click.BadParameter(f"{theme!r}; there are: {', '.join(theme_names())}", param_hint="--theme")
    if demo:
        if workspace or state_dir or screenshot or attach or mcp_http or readonly or view:
            raise click.UsageError("--demo has a workspace, a runtime and an order of its own")
        from evatui.demo.playing import play

        at_work()
        return play(pace=pace, size=size, look=Look(ascii=ascii), theme=theme, mouse=not no_mouse)
    from evatui.console.app import ConsoleApp
    from evatui.console.settings import Settings, load_keymap, load_settings, save_settings
    from evatui.console.view.keymap import KeymapError
    from evatui.control.opening import operator_home

    if mcp_http and (attach or screenshot is not None):
        raise click.UsageError("--mcp-http is for the console that holds the workspace")
    home = operator_home().folder
    try:
        # A picture is the same whoever draws it.
        keymap = load_keymap(home) if screenshot is None else {}
    except KeymapError as problem:
        click.echo(f"error: {problem}", err=True)
        return _USAGE
    remembered = load_settings(home) if screenshot is None else Settings()
    settings = replace(
        remembered, theme=theme or remembered.theme, view=View(view) if view is not None else remembered.view
    )
    opener = partial(_opener, workspace, state_dir, picture=screenshot is not None, readonly=readonly, mcp=mcp_http)
    app = ConsoleApp(
        opener(attach=attach),
        attach=opener(attach=True),
        readonly=readonly,
        look=Look(ascii=ascii, picture=screenshot is not None),
        settings=settings,
        keymap=keymap,
        workspace=workspace,
    )
    if screenshot is not None:
        from evatui.console.screenshot import take_screenshot

        at_work()
        return take_screenshot(app, screenshot, size)
    from evatui.console.launch import launch

    at_work()
    try:
        return launch(app, mouse=not no_mouse, strays=home / "strays.txt")
    finally:
        save_settings(home, app.settings)


def _opener(
    workspace: Path | None, state_dir: Path | None, *, attach: bool, picture: bool, readonly: bool, mcp: bool
) -> OpenOperator:
    async def open_operator() -> Operator:
        from evatui.control.opening import OpenMode, open_workspace, operator_actor, operator_home
        from evatui.kernel.model.call import CallerType

        mode = OpenMode.ATTACH if attach else OpenMode.PICTURE if picture else OpenMode.HOLD
        actor = operator_actor(CallerType.USER)
        place = state_dir or (Path(given) if (given := os.environ.get("EVA_STATE_DIR")) else None)
        operator = await open_workspace(
            workspace,
            state_dir=place,
            mode=mode,
            actor=actor,
            readonly=readonly or picture,
            home=operator_home(),
            stays=attach,
        )
        if mcp and mode is OpenMode.HOLD:
            from evatui.mcp.serving import accompany

            await accompany(operator)
        return operator

    return open_operator


def _has_terminal() -> bool:
    """Textual reads standard input and draws on standard error."""
    return all(stream is not None and stream.isatty() for stream in (sys.__stdin__, sys.__stderr__))


if __name__ == "__main__":
    main()
