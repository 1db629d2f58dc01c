"""What a ``manifest.json`` beside a skill adds to prompts: texts that it includes, and tools that run behind a call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evatui.extensions.shared.folders import MANIFEST_FILE, below
from evatui.extensions.shared.includes import MAX_PROMPT, MAX_PROMPTS, matches
from evatui.extensions.shared.manifest import MAX_MANIFEST, PluginManifest, read_manifest
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.render import render
from evatui.kernel.host.glob import Glob
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.droppings import is_hidden
from evatui.kernel.workspace.files import EntryKind, FileProblem, Tree
from evatui.kernel.workspace.paths import HERE

__all__ = ["Package", "Prompt", "read_package"]

_MAX_FILES = 500
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text that belongs into prompts, and how its file is shown."""

    location: str
    text: str


@dataclass(frozen=True, slots=True)
class Package:
    """``spawns``: it has a tool that runs in the background, so that its ``SKILL.md`` belongs into prompts.

    What could not be read is told in ``diagnostics``, and adds nothing.
    """

    prompts: tuple[Prompt, ...] = ()
    spawns: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


def read_package(tree: Tree, folder: str, shown: str) -> Package:
    """Of the ``folder`` in ``tree``, which is shown as ``shown``."""
    return _Reader(tree, folder, shown).read()


class _Reader:
    def __init__(self, tree: Tree, folder: str, shown: str) -> None:
        self._tree = tree
        self._folder = folder
        self._shown = shown
        self._file = f"{shown}/{MANIFEST_FILE}"
        self._found: list[Diagnostic] = []

    def read(self) -> Package:
        try:
            data = self._tree.read(below(self._folder, MANIFEST_FILE), MAX_MANIFEST).data
        except FileProblem as problem:
            self._say(f"{clean_line(self._file, 200)} cannot be read: {problem.detail}")
            return Package(diagnostics=tuple(self._found))
        manifest, found = read_manifest(data, self._file)
        self._found += found
        if manifest is None:
            return Package(diagnostics=tuple(self._found))
        return Package(tuple(self._prompts(manifest)), manifest.spawns, tuple(self._found))

    def _prompts(self, manifest: PluginManifest) -> Iterator[Prompt]:
        patterns = [Glob(pattern) for pattern in manifest.includes]
        taken = 0
        for path in self._files() if patterns else ():
            if not any(matches(pattern, path) for pattern in patterns):
                continue
            taken += 1
            if taken > MAX_PROMPTS:
                self._say(f"more than {MAX_PROMPTS} files are included; the rest is left out")
                return
            if (text := self._text(path)) is not None:
                yield Prompt(f"{self._shown}/{path}", text)

    def _files(self) -> list[str]:
        """The files of the package, by name; not those of links, nor hidden ones."""
        found: list[str] = []
        waiting = [(HERE, 0)]
        while waiting and len(found) < _MAX_FILES:
            folder, depth = waiting.pop(0)
            try:
                kinds = self._tree.kinds(below(self._folder, folder))
            except FileProblem:
                continue
            shown = [(name, kind) for name, kind in kinds.items() if name.isprintable() and not is_hidden(name)]
            found += [below(folder, name) for name, kind in shown if kind is EntryKind.FILE]
            if depth < _MAX_DEPTH:
                waiting += [(below(folder, name), depth + 1) for name, kind in shown if kind is EntryKind.FOLDER]
        return sorted(found[:_MAX_FILES])

    def _text(self, path: str) -> str | None:
        try:
            return self._tree.read(below(self._folder, path), MAX_PROMPT).data.decode("utf-8-sig")
        except FileProblem as problem:
            self._say(f"{clean_line(path, 120)} is not included: {problem.detail}")
        except UnicodeDecodeError:
            self._say(f"{clean_line(path, 120)} is not included: it is not UTF-8")
        return None

    def _say(self, message: str) -> None:
        self._found.append(render(diagnose("EVA-816", message, Span(self._file), level=Level.WARNING), {}))
