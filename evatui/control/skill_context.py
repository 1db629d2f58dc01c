"""All that a system prompt gets, of skills and of plugins."""

from __future__ import annotations

import asyncio
import hashlib

from evatui.extensions.plugins.catalogue import PluginCatalogue
from evatui.extensions.prompts.context import Part, context
from evatui.extensions.prompts.of_plugins import prompts_of
from evatui.extensions.skills.catalogue import Catalogue
from evatui.runtime import Runtime

__all__ = ["ToldRevision", "told_to_agents"]


async def told_to_agents(runtime: Runtime) -> tuple[Part, ...]:
    """As the disk has it now."""
    skills = await runtime.skills_now()
    plugins = await runtime.plugins_now()
    return context(skills, await asyncio.to_thread(prompts_of, plugins))


class ToldRevision:
    """What `told_to_agents` is made of, as of the last look, by a digest; another one tells them otherwise."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._known: tuple[Catalogue, PluginCatalogue, str] | None = None

    async def now(self) -> str:
        """Looks at the disk only where nobody has."""
        skills, plugins = await self._runtime.skills.known(), self._runtime.plugging.catalogue.latest
        if self._known is None or self._known[0] is not skills or self._known[1] is not plugins:
            self._known = skills, plugins, _revision(skills, plugins)
        return self._known[2]


def _revision(skills: Catalogue, plugins: PluginCatalogue) -> str:
    told = [(one.copy.location, one.copy.digest, one.copy.package, one.copy.stale, one.reason) for one in skills.skills]
    more = [(one.plugin.location, one.plugin.digest, one.reason) for one in plugins.plugins]
    return hashlib.sha256(repr((told, more)).encode()).hexdigest()
