"""What a ``manifest.json`` beside a skill adds to prompts: texts that it includes, and tools that run behind a call.

Only this much of it is read here, and nothing in it is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.json_tree import JsonProblem, parse_json
from evatui.kernel.admission.render import render
from evatui.kernel.host.glob import Glob
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.droppings import is_hidden
from evatui.kernel.workspace.files import EntryKind, FileProblem, Tree
from evatui.kernel.workspace.paths import HERE, InvalidPath, normal
from evatui.kernel.workspace.yaml import Node, place

__all__ = ["MANIFEST_FILE", "Package", "Prompt", "read_package"]

MANIFEST_FILE = "manifest.json"
_MAX_BYTES = 1 << 20
_MAX_PROMPT = 1 << 18
_MAX_PROMPTS = 20
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
        self._data = b""
        self._found: list[Diagnostic] = []

    def read(self) -> Package:
        try:
            self._data = self._tree.read(_join(self._folder, MANIFEST_FILE), _MAX_BYTES).data
            root = parse_json(self._data, self._file)
        except FileProblem as problem:
            self._say(f"{clean_line(self._file, 200)} cannot be read: {problem.detail}", Span(self._file))
            return Package(diagnostics=tuple(self._found))
        except JsonProblem as problem:
            self._say(f"it is no JSON: {problem.message}", problem.place.span(self._file))
            return Package(diagnostics=tuple(self._found))
        prompts = tuple(self._prompts(root))
        return Package(prompts, _spawns(root), tuple(self._found))

    def _prompts(self, root: Node) -> Iterator[Prompt]:
        patterns = self._patterns(root)
        taken = 0
        for path in self._files() if patterns else ():
            if not any(_matches(pattern, path) for pattern in patterns):
                continue
            taken += 1
            if taken > _MAX_PROMPTS:
                self._say(f"more than {_MAX_PROMPTS} files are included; the rest is left out", self._at(root))
                return
            if (text := self._text(path, root)) is not None:
                yield Prompt(f"{self._shown}/{path}", text)

    def _patterns(self, root: Node) -> list[Glob]:
        found: list[Glob] = []
        include = _child(_child(root, "prompts"), "include")
        if include is None:
            return found
        items = include.value if isinstance(include.value, list) else [include]
        for item in items:
            try:
                found.append(Glob(normal(item.value if isinstance(item.value, str) else "")))
            except InvalidPath as problem:
                self._say(f"a pattern of prompts.include does not fit: {problem}", item.span())
        return found

    def _files(self) -> list[str]:
        """The files of the package, by name; not those of links, nor hidden ones."""
        found: list[str] = []
        waiting = [(HERE, 0)]
        while waiting and len(found) < _MAX_FILES:
            folder, depth = waiting.pop(0)
            try:
                kinds = self._tree.kinds(_join(self._folder, folder))
            except FileProblem:
                continue
            shown = [(name, kind) for name, kind in kinds.items() if name.isprintable() and not is_hidden(name)]
            found += [_join(folder, name) for name, kind in shown if kind is EntryKind.FILE]
            if depth < _MAX_DEPTH:
                waiting += [(_join(folder, name), depth + 1) for name, kind in shown if kind is EntryKind.FOLDER]
        return sorted(found[:_MAX_FILES])

    def _text(self, path: str, root: Node) -> str | None:
        try:
            return self._tree.read(_join(self._folder, path), _MAX_PROMPT).data.decode("utf-8-sig")
        except FileProblem as problem:
            self._say(f"{clean_line(path, 120)} is not included: {problem.detail}", self._at(root))
        except UnicodeDecodeError:
            self._say(f"{clean_line(path, 120)} is not included: it is not UTF-8", self._at(root))
        return None

    def _at(self, root: Node) -> Span:
        return place(root, ("prompts", "include"))

    def _say(self, message: str, where: Span) -> None:
        told = diagnose("EVA-816", message, where, level=Level.WARNING)
        self._found.append(render(told, {self._file: self._data}))


def _matches(pattern: Glob, path: str) -> bool:
    matched = pattern.start
    for name in path.split("/"):
        matched = pattern.step(matched, name)
    return pattern.accepts(matched)


def _spawns(root: Node) -> bool:
    tools = _child(root, "tools")
    listed = tools.value if tools is not None and isinstance(tools.value, list) else []
    flags = (_child(tool, "spawn_only") for tool in listed)
    return any(flag is not None and flag.value is True for flag in flags)


def _child(node: Node | None, key: str) -> Node | None:
    return node.value.get(key) if node is not None and isinstance(node.value, dict) else None


def _join(folder: str, name: str) -> str:
    if HERE in (folder, name):
        return name if folder == HERE else folder
    return f"{folder}/{name}"
