"""Where a workspace is, and where in it things lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.codes import READING_CODES, reading_diagnostic
from evatui.kernel.workspace.eva_yaml import read_settings
from evatui.kernel.workspace.files import EntryKind, FileProblem, ProblemKind, Tree
from evatui.kernel.workspace.reading import file_diagnostic
from evatui.kernel.workspace.settings import (
    CONFIG_FOLDERS,
    DEFAULT_FOLDERS,
    AuditSettings,
    Folders,
    McpServerSettings,
    RuntimeSettings,
    Settings,
    WatchSettings,
)
from evatui.kernel.workspace.yaml import MAX_BYTES, YamlProblem, parse

__all__ = ["SETTINGS_FILES", "STATE_FOLDER", "Layout", "WorkspaceError", "find_workspace", "open_layout"]

SETTINGS_FILES = ("eva.yaml", "config/eva.yaml")
STATE_FOLDER = ".eva"


class WorkspaceError(Exception):
    """The workspace cannot be opened. ``message`` is one line that ends with what to do next."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics = diagnostics


@dataclass(frozen=True, slots=True)
class Layout:
    """``root`` is canonical; the folders are relative to it and need not exist; ``roots`` are what a grant may name."""

    root: Path
    name: str
    state_dir: Path
    settings_file: str | None
    manifests: tuple[str, ...]
    scripts: tuple[str, ...]
    schemas: tuple[str, ...]
    policies: tuple[str, ...]
    adapters: tuple[str, ...]
    skills: tuple[str, ...]
    plugins: tuple[str, ...]
    roots: Mapping[str, str]
    runtime: RuntimeSettings
    watch: WatchSettings
    audit: AuditSettings
    mcp_server: McpServerSettings


def find_workspace(start: Path) -> Path | None:
    """The nearest folder from ``start`` upward with ``eva.yaml``, ``config/eva.yaml`` or ``capabilities/``."""
    start = Path(start).absolute()
    return next((folder for folder in (start, *start.parents) if _marks_workspace(folder)), None)


def open_layout(root: Path, state_dir: Path | None = None) -> Layout:
    """Reads ``eva.yaml`` if there is one. Raises `WorkspaceError`; does no other IO and writes nothing."""
    tree = _open_tree(Path(root))
    try:
        settings, source = _settings(tree)
    finally:
        tree.close()
    real = Path(root).resolve()
    folders = settings.folders
    return Layout(
        root=real,
        name=clean_line(real.name, 120) or "workspace",
        state_dir=real / STATE_FOLDER if state_dir is None else Path(state_dir).absolute(),
        settings_file=source,
        manifests=folders.manifests,
        scripts=folders.scripts,
        schemas=folders.schemas,
        policies=folders.policies,
        adapters=folders.adapters,
        skills=folders.skills,
        plugins=folders.plugins,
        roots=settings.roots,
        runtime=settings.runtime,
        watch=settings.watch,
        audit=settings.audit,
        mcp_server=settings.mcp_server,
    )


def _marks_workspace(folder: Path) -> bool:
    """``config`` of a workspace in the other layout has the marks too, but is no workspace itself."""
    try:
        if folder.name == "config" and (folder.parent / SETTINGS_FILES[1]).is_file():
            return False
        return any((folder / name).is_file() for name in SETTINGS_FILES) or (folder / "capabilities").is_dir()
    except OSError:
        return False


def _open_tree(root: Path) -> Tree:
    shown = clean_line(str(root), 200)
    try:
        tree = Tree(root)
    except FileNotFoundError:
        raise _no_workspace(f"there is no folder {shown}") from None
    except NotADirectoryError:
        raise _no_workspace(f"{shown} is not a folder") from None
    except (OSError, ValueError):
        raise _no_workspace(f"the folder {shown} cannot be read", fix=READING_CODES["EVA-116"].fix) from None
    try:
        tree.list(".", 1)
    except FileProblem as problem:
        tree.close()
        message = f"the folder {shown} cannot be read: {problem.detail}"
        raise _no_workspace(message, fix=READING_CODES["EVA-116"].fix) from None
    return tree


def _no_workspace(message: str, fix: str | None = None) -> WorkspaceError:
    diagnostic = reading_diagnostic("EVA-120", message, fix=fix)
    return WorkspaceError(f"{message}. {diagnostic.fix}", (diagnostic,))


def _settings(tree: Tree) -> tuple[Settings, str | None]:
    folders = _folders(tree)
    for path in SETTINGS_FILES:
        try:
            source = tree.read(path, MAX_BYTES)
        except FileProblem as problem:
            if problem.kind is ProblemKind.MISSING:
                continue
            raise _broken(path, (file_diagnostic(problem, path),)) from None
        try:
            settings, problems = read_settings(parse(source.data, path), folders)
        except YamlProblem as yaml_problem:
            raise _broken(path, yaml_problem.diagnostics) from None
        if problems:
            raise _broken(path, problems)
        return settings, path
    return Settings(folders=folders), None


def _folders(tree: Tree) -> Folders:
    """The layout with everything below ``config/`` is recognised where there is no ``capabilities/``."""
    if "capabilities" in _there(tree, ("capabilities",)):
        return DEFAULT_FOLDERS
    return CONFIG_FOLDERS if any(_there(tree, ("config/eva.yaml", "config/capabilities"))) else DEFAULT_FOLDERS


def _there(tree: Tree, paths: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        try:
            if tree.kind(path) in (EntryKind.FOLDER, EntryKind.FILE):
                yield path
        except FileProblem:
            continue


def _broken(path: str, diagnostics: tuple[Diagnostic, ...]) -> WorkspaceError:
    first = diagnostics[0]
    at = f"{path}:{first.primary.line}:{first.primary.column}" if first.primary else path
    more = f" (and {len(diagnostics) - 1} more)" if len(diagnostics) > 1 else ""
    return WorkspaceError(f"{at}: {first.message}{more}. {first.fix}", diagnostics)
