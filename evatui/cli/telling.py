"""``eva status``, ``metrics``, ``explain`` and ``completion``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.options import Settings, Word
from evatui.cli.screen import Screen
from evatui.cli.show import show_status

__all__ = ["completion", "explain", "metrics_text", "status"]


@click.command(cls=Word)
@click.pass_obj
def status(settings: Settings) -> Answer:
    """What holds the workspace, and how it is."""
    data = settings.ask("status")
    return Answer(data, partial(show_status, data=data))


@click.command("metrics", cls=Word)
@click.pass_obj
def metrics_text(settings: Settings) -> Answer:
    """Counts of calls, errors, loads and host calls of the runtime, as Prometheus reads them."""
    data = settings.ask("metrics")
    return Answer(data, lambda screen: screen.write(data["text"]))


@click.command(cls=Word)
@click.argument("code")
def explain(code: str) -> Answer:
    """What a diagnostic code means, why its rule exists and how to fix it."""
    from evatui.control.explain import explain_code

    data = explain_code(code)
    return Answer(data, partial(_show_code, data=data))


def _show_code(screen: Screen, data: dict[str, Any]) -> None:
    screen.line(f"{data['code']}: {data['title']}  ({data['reason']})", "bold")
    screen.line(f"why: {data['why']}")
    screen.line(f"fix: {data['fix']}")


@click.command(cls=Word)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> Answer:
    """Print what makes a shell complete these words: eval "$(eva completion bash)"."""
    from click.shell_completion import get_completion_class

    from evatui.cli.words import eva

    found = get_completion_class(shell)
    if found is None:
        raise click.BadParameter(f"{shell} is not known here")
    script = found(eva, {}, "eva", "_EVA_COMPLETE").source()
    return Answer({"shell": shell, "script": script}, lambda screen: screen.write(script))
