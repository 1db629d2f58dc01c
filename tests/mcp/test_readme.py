"""What the README tells people to paste into their clients is what works."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest

from evatui.cli.options import Settings
from evatui.cli.words import eva

README = Path(__file__).parents[2] / "README.md"
BLOCKS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", README.read_text(), re.S)]
SERVERS = [block.get("mcpServers", block.get("servers"))["evatui"] for block in BLOCKS]


def test_three_clients_are_told_how() -> None:
    assert len(SERVERS) == 3


@pytest.mark.parametrize("server", SERVERS)
def test_it_names_a_command_that_there_is_or_where_it_serves_by_default(server: dict[str, Any]) -> None:
    if "url" in server:
        assert server["url"] == "http://127.0.0.1:8765/mcp"
        assert server["headers"]["Authorization"].startswith("Bearer ")
        return
    assert server["command"] == "eva"
    context = eva.make_context("eva", list(server["args"]), obj=Settings())
    command: click.Command = eva
    words = context._protected_args + context.args
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None, name
        command, context = found, click.Context(found, parent=context, info_name=name, obj=Settings())
    assert command.make_context("serve", words, parent=context).params["stdio"] is True
