"""Which file of a plugin is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evatui.extensions.plugins.package import PackedFile
from evatui.extensions.shared.manifest import PluginManifest
from evatui.kernel.workspace.paths import normal

__all__ = ["program_of", "search"]

_NO_PROGRAMS = (".json", ".md", ".toml", ".tar.gz")


def program_of(manifest: PluginManifest, folder: str, files: Mapping[str, PackedFile]) -> PackedFile | None:
    """The one that the manifest names, else the first that `search` finds; it must be executable."""
    if manifest.binary is not None:
        named = files.get(normal(manifest.binary))
        return named if named is not None and named.executable else None
    return next(search(manifest.name, folder, files), None)


def search(name: str, folder: str, files: Mapping[str, PackedFile]) -> Iterator[PackedFile]:
    """By the plugin's name, its folder's, ``main``, then any plain executable beside the manifest, by name."""
    beside = {path: file for path, file in files.items() if "/" not in path and file.executable}
    for wanted in (name, folder, "main"):
        if wanted in beside:
            yield beside[wanted]
    for path, file in sorted(beside.items()):
        if not path.startswith(".") and not path.lower().endswith(_NO_PROGRAMS):
            yield file
