"""What a shell offers after a word: the ids and names of the workspace, as far as they can be had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

from evatui.cli.options import Settings
from evatui.control.failing import CommandFailed

__all__ = ["CapabilityId", "CapabilityName", "PluginName", "PluginTool", "SkillName"]


class CapabilityId(click.ParamType[str]):
    """Any text: what is no id is for the runtime to say."""

    name = "ID"
    rows = ("capability.list", "capabilities", "id")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        words = {word: about for row in _rows(ctx, *self.rows) for word, about in self.words(row)}
        return [CompletionItem(word, help=words[word]) for word in sorted(words) if word.startswith(incomplete)]

    def words(self, row: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """Each with what is said beside it, where a shell shows that."""
        yield row["id"], row["state"]


class CapabilityName(CapabilityId):
    """A name that a capability provides."""

    name = "NAME"

    def words(self, row: dict[str, Any]) -> Iterator[tuple[str, str]]:
        for name in row["capabilities"]:
            yield name, row["id"]


class SkillName(CapabilityId):
    """What a skill is called."""

    name = "NAME"
    rows = ("skill.list", "skills", "name")

    def words(self, row: dict[str, Any]) -> Iterator[tuple[str, str]]:
        yield row["name"], row["layer"]


class PluginName(CapabilityId):
    """What a plugin is called."""

    name = "NAME"
    rows = ("plugin.list", "plugins", "name")

    def words(self, row: dict[str, Any]) -> Iterator[tuple[str, str]]:
        yield row["name"], row["layer"]


class PluginTool(PluginName):
    """A tool, as ``plugin.tool``."""

    name = "PLUGIN.TOOL"

    def words(self, row: dict[str, Any]) -> Iterator[tuple[str, str]]:
        for tool in row["tools"]:
            yield f"{row['name']}.{tool['name']}", tool["description"]


def _rows(ctx: click.Context, command: str, among: str, key: str) -> list[dict[str, Any]]:
    """Without a word on stderr, which is the line that is being typed."""
    from evatui.cli.session import ask

    settings = ctx.find_object(Settings)
    try:
        rows = ask(settings.connect, settings.workspace, settings.state_dir, command)[among] if settings else ()
    except CommandFailed:
        return []
    return [row for row in rows if row[key]]
