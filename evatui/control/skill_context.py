"""All that a system prompt gets, of skills and of plugins."""

from __future__ import annotations

import asyncio

from evatui.extensions.prompts.context import Part, context
from evatui.extensions.prompts.of_plugins import prompts_of
from evatui.runtime import Runtime

__all__ = ["told_to_agents"]


async def told_to_agents(runtime: Runtime) -> tuple[Part, ...]:
    """As the disk has it now."""
    skills = await runtime.skills.look()
    plugins = await runtime.plugging.catalogue.look()
    return context(skills, await asyncio.to_thread(prompts_of, plugins))
