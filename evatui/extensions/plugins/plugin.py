"""One plugin as it was found, or why a folder is none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evatui.extensions.plugins.package import SIGNATURE_FILE, Files, PackageProblem, PackedFile
from evatui.extensions.plugins.program import program_of
from evatui.extensions.plugins.signature import Seal, read_seal
from evatui.extensions.shared.folders import MANIFEST_FILE
from evatui.extensions.shared.layers import Layer
from evatui.extensions.shared.manifest import PluginManifest, Tool, read_manifest
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.render import render
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.paths import HERE, InvalidPath, normal

__all__ = ["NoPlugin", "Plugin", "refused", "understood", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """Sound, whatever the policy says. ``folder`` lies in the ``root`` of its layer and is shown as ``location``;
    ``digest`` is of all ``files``, and ``program`` the one that is run, None where it has no tools."""

    layer: Layer
    folder: str
    location: str
    manifest: PluginManifest
    files: Mapping[str, PackedFile]
    digest: str
    program: str | None
    seal: Seal
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def root(self) -> Path:
        return self.layer.root

    def runs(self, tool: Tool) -> str:
        """The file that is run for ``tool``, relative to the plugin's folder."""
        program = self.program if tool.entrypoint is None else normal(tool.entrypoint)
        assert program is not None  # else it were refused
        return program

    def executable(self, word: str) -> str | None:
        """The file that a command means by ``./…``, relative to the plugin's folder; None where that is none."""
        return _executable(word, self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPlugin:
    """``name`` is what it would go by, as far as that is known."""

    layer: Layer
    location: str
    name: str
    diagnostics: tuple[Diagnostic, ...]


def understood(layer: Layer, folder: str, location: str, files: Files) -> Plugin | NoPlugin:
    """What the ``files`` of ``folder`` are."""
    shown = f"{location}/{MANIFEST_FILE}"
    data = files.texts.get(MANIFEST_FILE, b"")
    manifest, found = read_manifest(data, shown)
    name = _name(location)
    if manifest is None:
        return NoPlugin(layer=layer, location=location, name=name, diagnostics=found)
    problems: list[Diagnostic] = []
    program = program_of(manifest, _name(folder), files.files)
    if any(tool.entrypoint is None for tool in manifest.tools) or manifest.binary is not None:
        problems += _of_program(manifest, program, shown)
    for tool in manifest.tools:
        entry = files.files.get(normal(tool.entrypoint)) if tool.entrypoint is not None else None
        if tool.entrypoint is not None and (entry is None or not entry.executable):
            message = f"the program of {tool.name}, {clean_line(tool.entrypoint, 120)}, is no executable file"
            problems.append(diagnose("EVA-834", message, Span(shown)))
    for server in manifest.mcp_servers:
        if server.inside and _executable(server.command[0], files.files) is None:
            message = f"the MCP server {clean_line(server.command[0], 120)} is no executable file of {manifest.name}"
            problems.append(diagnose("EVA-834", message, Span(shown)))
    seal = Seal()
    if SIGNATURE_FILE in files.texts:
        seal = read_seal(files.texts[SIGNATURE_FILE], files.files)
        where = Span(f"{location}/{SIGNATURE_FILE}")
        problems += [diagnose("EVA-837", one, where) for one in seal.problems]
    if problems:
        told = (*found, *(render(one, {shown: data}) for one in problems))
        return NoPlugin(layer=layer, location=location, name=manifest.name, diagnostics=told)
    return Plugin(
        layer=layer,
        folder=folder,
        location=location,
        manifest=manifest,
        files=files.files,
        digest=files.digest,
        program=program.path if program is not None and manifest.tools else None,
        seal=seal,
        diagnostics=found,
    )


def refused(layer: Layer, location: str, problem: PackageProblem) -> NoPlugin:
    at = location if problem.path == HERE else f"{location}/{problem.path}"
    code = "EVA-831" if problem.path == MANIFEST_FILE else "EVA-835"
    found = diagnose(code, f"{clean_line(at, 200)} cannot be taken: {problem.detail}", Span(at))
    return NoPlugin(layer=layer, location=location, name=_name(location), diagnostics=(render(found, {}),))


def warning(code: str, message: str, location: str, level: Level = Level.WARNING) -> Diagnostic:
    """About a plugin that is sound."""
    return render(diagnose(code, message, Span(location), level=level), {})


def _of_program(manifest: PluginManifest, program: PackedFile | None, shown: str) -> list[Diagnostic]:
    if program is None:
        what = f"{clean_line(manifest.binary, 120)}, which" if manifest.binary is not None else "a program that"
        return [diagnose("EVA-834", f"{manifest.name} has tools, and not {what} could be run for them", Span(shown))]
    if manifest.sha256 is not None and manifest.sha256 != program.digest:
        message = f"{clean_line(program.path, 120)} is not the program that the manifest names"
        notes = (f"its SHA-256 is {program.digest}", f"the manifest has {manifest.sha256}")
        return [diagnose("EVA-836", message, Span(shown), notes=notes)]
    return []


def _executable(word: str, files: Mapping[str, PackedFile]) -> str | None:
    try:
        path = normal(os.path.normpath(word))
    except InvalidPath:
        return None
    return path if path in files and files[path].executable else None


def _name(path: str) -> str:
    return path.rpartition("/")[2]
