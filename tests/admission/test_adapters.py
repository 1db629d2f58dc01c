"""Adapter manifests: the sound ones are taken, and all that is wrong with the others is told at its line."""

from __future__ import annotations

import hashlib

import pytest

from evatui.kernel.admission.adapters import AdaptersResult, load_adapters
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.diagnostic import Level
from evatui.kernel.workspace.files import FileProblem, ProblemKind, SourceFile

PATH = "capabilities/adapters/files.yaml"
FILES = """\
id: files
version: 1.0.0
transport: stdio
capabilities: [repo.file.read]
schemas:
  repo.file.read: {input: schemas/a.json, output: schemas/b.json}
stdio:
  command: [files, --serve]
"""
BLOCKS = {
    "mcp": "mcp: {server: stdio, command: [server], tools: [read_*]}",
    "http": "http: {url: 'https://api.example.org/x', headers: {Authorization: {credential: TOKEN}}}",
    "eventbus": "eventbus: {request_topic: /jobs/request, reply_topic: /jobs/reply}",
    "skill": "skill: {name: lint}",
    "hardware": "hardware: {match: {}}",
}


def source(text: str, path: str = PATH) -> SourceFile:
    data = text.encode()
    return SourceFile(path, data, hashlib.sha256(data).hexdigest(), (0, 0, 0))  # type: ignore[arg-type]


def loaded(*texts: str) -> AdaptersResult:
    return load_adapters([source(text, f"capabilities/adapters/{n}.yaml") for n, text in enumerate(texts)])


def test_a_sound_adapter_is_taken_and_what_is_not_supported_is_a_warning() -> None:
    result = load_adapters([source(FILES)])
    assert result.adapters == (Adapter("files", "stdio", ("repo.file.read",), PATH),)
    [warning] = result.diagnostics
    assert (warning.code, warning.level) == ("EVA-706", Level.WARNING)
    assert "files answers nothing: the transport stdio is not supported by this version" in warning.rendered
    assert f"{PATH}:3:12" in warning.rendered


def test_a_disabled_adapter_warns_of_nothing() -> None:
    result = loaded(FILES + "enabled: false\n")
    assert [adapter.enabled for adapter in result.adapters] == [False]
    assert result.diagnostics == ()


@pytest.mark.parametrize(("transport", "block"), BLOCKS.items())
def test_every_transport_has_its_block(transport: str, block: str) -> None:
    head = f"id: a\nversion: 1.0.0\ntransport: {transport}\ncapabilities: [a.b]\n"
    assert [adapter.transport for adapter in loaded(head + block).adapters] == [transport]
    [missing] = loaded(head).diagnostics
    assert (missing.code, missing.primary.line) == ("EVA-704", 3)
    other = "skill: {name: x}" if transport != "skill" else BLOCKS["mcp"]
    assert [found.code for found in loaded(f"{head}{block}\n{other}\n").diagnostics] == ["EVA-704"]


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("version: 1.0.0\n", "", "EVA-703", 1),
        ("transport: stdio", "transport: carrier-pigeon", "EVA-703", 3),
        ("command: [files, --serve]", "command: files --serve", "EVA-703", 8),
        ("version: 1.0.0", "version: 1.0.0\nprioritty: 3", "EVA-702", 3),
        ("  repo.file.read: {", "  repo.other: {", "EVA-703", 6),
        ("transport: stdio", "transport: [", "EVA-101", 5),
        (FILES, "", "EVA-703", 1),
        (FILES, "just text", "EVA-703", 1),
    ],
)
def test_what_is_wrong_is_told_at_its_line_and_the_adapter_is_not_taken(
    old: str, new: str, code: str, line: int
) -> None:
    assert old in FILES
    result = load_adapters([source(FILES.replace(old, new))])
    assert result.adapters == ()
    first = result.diagnostics[0]
    assert first.primary is not None
    assert (first.code, first.primary.file, first.primary.line, first.level) == (code, PATH, line, Level.ERROR)
    assert first.rendered


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_taken() -> None:
    problem = FileProblem("capabilities/adapters/x.yaml", ProblemKind.LINK, "leads outside")
    result = load_adapters([problem, source(FILES)])
    assert [adapter.id for adapter in result.adapters] == ["files"]
    assert result.diagnostics[0].code == "EVA-701"


def test_of_two_with_one_id_none_is_taken_and_both_places_are_told() -> None:
    result = loaded(FILES + "enabled: false\n", FILES.replace("id: files", "id: Files") + "enabled: false\n")
    assert result.adapters == ()
    [found] = result.diagnostics
    assert found.code == "EVA-705"
    assert [span.file for span in found.spans] == ["capabilities/adapters/0.yaml", "capabilities/adapters/1.yaml"]
