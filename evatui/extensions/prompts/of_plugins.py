"""What plugins bring along for prompts: the texts that they include, and how to use what runs in the background."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress

from evatui.extensions.plugins.catalogue import PluginCatalogue
from evatui.extensions.plugins.plugin import Plugin
from evatui.extensions.prompts.context import Part
from evatui.extensions.shared.folders import SKILL_FILE, below
from evatui.extensions.shared.includes import MAX_PROMPT, MAX_PROMPTS, matches
from evatui.extensions.skills.read import read_skill
from evatui.extensions.skills.skill import Skill
from evatui.kernel.host.glob import Glob
from evatui.kernel.workspace.files import FileProblem, Tree
from evatui.kernel.workspace.paths import InvalidPath, normal

__all__ = ["prompts_of"]


def prompts_of(known: PluginCatalogue) -> list[Part]:
    """Of those that can be run, by name, but for what lies beside skills, which speak for themselves. Blocking.

    A text is of the version that was hashed, or left out until the next look.
    """
    own = {one.layer for one in known.layers if not one.skills}
    found: list[Part] = []
    for one in known.plugins:
        if one.available and one.plugin.layer in own:
            with suppress(OSError), closing(Tree(one.plugin.root)) as tree:
                found += _parts(one.plugin, tree)
    return found


def _parts(plugin: Plugin, tree: Tree) -> Iterator[Part]:
    if plugin.manifest.spawns:
        skill = read_skill(_data(plugin, tree, SKILL_FILE) or b"", f"{plugin.location}/{SKILL_FILE}", plugin.name)
        if isinstance(skill, Skill) and not skill.by_hand:
            yield Part("spawn_only", skill.body, plugin.name, f"{plugin.location}/{SKILL_FILE}")
    patterns = []
    for pattern in plugin.manifest.includes:
        with suppress(InvalidPath):
            patterns.append(Glob(normal(pattern)))
    wanted = [path for path in sorted(plugin.files) if any(matches(pattern, path) for pattern in patterns)]
    for path in wanted[:MAX_PROMPTS]:
        with suppress(UnicodeDecodeError):
            text = (_data(plugin, tree, path) or b"").decode("utf-8-sig")
            yield Part("include", text, plugin.name, f"{plugin.location}/{path}")


def _data(plugin: Plugin, tree: Tree, path: str) -> bytes | None:
    if path not in plugin.files:
        return None
    try:
        source = tree.read(below(plugin.folder, path), MAX_PROMPT)
    except FileProblem:
        return None
    return source.data if source.digest == plugin.files[path].digest else None
