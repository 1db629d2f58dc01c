"""Where plugins lie, and who beats whom: folders for plugins first, then skills that bring a manifest along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evatui.extensions.shared.layers import Layer, LayerKind, layers_of
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.paths import HERE

__all__ = ["PluginLayer", "plugin_layers"]


@dataclass(frozen=True, slots=True)
class PluginLayer:
    """``skills``: it is one of skills, and only what lies beside a ``SKILL.md`` is a plugin."""

    layer: Layer
    skills: bool


def plugin_layers(layout: Layout, home: OperatorHome | None) -> tuple[PluginLayer, ...]:
    """From the highest to the lowest: the user's own, the parent profile's, the workspace's, then layers of skills."""
    own = [PluginLayer(layer, False) for layer in _own(layout, home)]
    skills = (layer for layer in layers_of(layout, home, layout.root) if layer.kind is not LayerKind.BUILTIN)
    return (*own, *(PluginLayer(layer, True) for layer in skills))


def _own(layout: Layout, home: OperatorHome | None) -> Iterator[Layer]:
    if home is not None and home.data is not None:
        yield Layer("user-plugins", LayerKind.USER, home.data / "plugins", HERE, "<user data>/plugins")
    if home is not None and home.parent is not None:
        yield Layer("parent-plugins", LayerKind.PARENT, home.parent / "plugins", HERE, "<parent profile>/plugins")
    for folder in layout.plugins:
        yield Layer(folder, LayerKind.PROJECT, layout.root, folder, folder)
