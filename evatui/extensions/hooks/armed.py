"""A hook of a plugin in service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from evatui.extensions.plugins.plugin import Plugin
from evatui.extensions.shared.manifest import Hook
from evatui.kernel.model.permissions import covers_name
from evatui.kernel.model.text import clean_line

__all__ = ["AFTER", "BEFORE", "FIRED", "SPAWN_DONE", "SPAWN_FAILED", "Armed", "armed_by", "names_of"]

BEFORE: Final = "before_tool_call"
AFTER: Final = "after_tool_call"
SPAWN_DONE: Final = "on_spawn_complete"
SPAWN_FAILED: Final = "on_spawn_failure"
FIRED: Final = (BEFORE, AFTER, SPAWN_DONE, SPAWN_FAILED)
"""What happens here. The other events belong to the loop of an agent, and never come."""


@dataclass(frozen=True, slots=True)
class Armed:
    """The hook ``at`` this place of the manifest of ``plugin``, as that was when it went into service."""

    plugin: Plugin
    at: int
    hook: Hook

    @property
    def key(self) -> tuple[str, str, int]:
        """Another version of the plugin has other hooks."""
        return self.plugin.name, self.plugin.digest, self.at

    @property
    def shown(self) -> str:
        """The command, as it is told."""
        return clean_line(" ".join(self.hook.command), 200)

    def wants(self, event: str, names: Iterable[str]) -> bool:
        """``names`` are those that the called tool goes by."""
        if self.hook.event != event:
            return False
        return not self.hook.tools or any(covers_name(pattern, name) for pattern in self.hook.tools for name in names)


def armed_by(plugin: Plugin) -> Iterator[Armed]:
    """In the order of the manifest."""
    for at, hook in enumerate(plugin.manifest.hooks):
        yield Armed(plugin, at, hook)


def names_of(capability: str) -> tuple[str, ...]:
    """A tool of a plugin goes by the name of the capability, and by its own."""
    return (capability, capability.split(".", 2)[2]) if capability.startswith("plugin.") else (capability,)
