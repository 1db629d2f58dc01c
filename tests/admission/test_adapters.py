"""Adapter manifests: the sound ones are taken, and all that is wrong with the others is told at its line."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest

from evatui.kernel.admission.adapters import AdaptersResult, load_adapters
from evatui.kernel.model.adapter import AdapterLimits, Breaker
from evatui.kernel.model.diagnostic import Level
from evatui.kernel.model.manifest import SideEffects
from evatui.kernel.model.runtime_gate import RuntimeGate
from evatui.kernel.workspace.files import FileProblem, ProblemKind, SourceFile

PATH = "capabilities/adapters/files.yaml"
FILES = """\
id: files
version: 1.0.0
transport: stdio
capabilities: [repo.file.read]
schemas:
  repo.file.read: {input: {type: object}, output: {}}
stdio:
  command: [files, --serve]
"""
FILED = {
    "schemas/in.json": '{"type": "object", "properties": {"path": {"$ref": "common.json#/$defs/path"}}}',
    "schemas/common.json": '{"$defs": {"path": {"type": "string"}}}',
    "schemas/broken.json": "{",
}
BLOCKS = {
    "mcp": "mcp: {server: stdio, command: [server], tools: [read_*]}",
    "http": "http: {url: 'https://api.example.org/x', headers: {Authorization: {credential: TOKEN}}}",
    "eventbus": "eventbus: {request_topic: /jobs/request, reply_topic: /jobs/reply}",
    "skill": "skill: {name: lint}",
    "hardware": "hardware: {bus: sim, identity: {logical_name: scale.main}}",
}


def source(text: str, path: str = PATH) -> SourceFile:
    data = text.encode()
    return SourceFile(path, data, hashlib.sha256(data).hexdigest(), (0, 0, 0))  # type: ignore[arg-type]


def loaded(*texts: str) -> AdaptersResult:
    return load_adapters([source(text, f"capabilities/adapters/{n}.yaml") for n, text in enumerate(texts)], read)


def read(paths: Sequence[str]) -> list[SourceFile | FileProblem]:
    """The schema files that there are."""
    return [
        source(FILED[path], path) if path in FILED else FileProblem(path, ProblemKind.MISSING, "there is no such file")
        for path in paths
    ]


def test_a_sound_adapter_is_taken_with_its_defaults() -> None:
    [adapter] = load_adapters([source(FILES)], read).adapters
    assert (adapter.id, adapter.title, adapter.transport, adapter.path) == ("files", "files@1.0.0", "stdio", PATH)
    assert (adapter.name, adapter.priority, adapter.side_effects) == ("files", 50, SideEffects.MUTATING)
    assert (adapter.limits, adapter.breaker) == (AdapterLimits(), Breaker())
    assert adapter.block == {"command": ["files", "--serve"], "env": [], "cwd": None}
    contract = adapter.contracts["repo.file.read"]
    assert (len(contract.takes.check([])), contract.takes.check({}), contract.gives.check(1)) == (1, [], [])


def test_a_skill_has_a_runtime_gate_and_nothing_else_does() -> None:
    skill = f"id: x\nversion: 1.0.0\ntransport: skill\n{BLOCKS['skill']}\n"
    assert loaded(skill).adapters[0].gate == RuntimeGate(("normal",), True)
    wider = loaded(skill + "runtime_gate: {allowed_modes: [team], disallow_team_worker: false}\n")
    assert wider.adapters[0].gate == RuntimeGate(("team",), False)
    [misplaced] = loaded(FILES + "runtime_gate: {allowed_modes: [normal]}\n").diagnostics
    assert (misplaced.code, misplaced.primary.line) == ("EVA-703", 9)


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
        ("command: [files, --serve]", "command: [files]\n  cwd: ../elsewhere", "EVA-703", 9),
        ("command: [files, --serve]", "command: [files]\n  cwd: /etc", "EVA-703", 9),
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
    result = load_adapters([source(FILES.replace(old, new))], read)
    assert result.adapters == ()
    first = result.diagnostics[0]
    assert first.primary is not None
    assert (first.code, first.primary.file, first.primary.line, first.level) == (code, PATH, line, Level.ERROR)
    assert first.rendered


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_taken() -> None:
    problem = FileProblem("capabilities/adapters/x.yaml", ProblemKind.LINK, "leads outside")
    result = load_adapters([problem, source(FILES)], read)
    assert [adapter.id for adapter in result.adapters] == ["files"]
    assert result.diagnostics[0].code == "EVA-701"


def test_of_two_with_one_id_none_is_taken_and_both_places_are_told() -> None:
    result = loaded(FILES + "enabled: false\n", FILES.replace("id: files", "id: Files") + "enabled: false\n")
    assert result.adapters == ()
    [found] = result.diagnostics
    assert found.code == "EVA-705"
    assert [span.file for span in found.spans] == ["capabilities/adapters/0.yaml", "capabilities/adapters/1.yaml"]


def test_the_names_of_an_mcp_server_are_those_of_its_allow_lists_and_its_aliases() -> None:
    block = "mcp: {server: stdio, command: [/bin/x], tools: ['*'], prompts: [a], aliases: {repo.issue: {tool: t}}}"
    [adapter] = loaded(f"id: a\nversion: 1.0.0\ntransport: mcp\n{block}\n").adapters
    assert adapter.capabilities == ("mcp.tool.call", "mcp.prompt.get", "repo.issue")


@pytest.mark.parametrize(
    ("block", "line", "said"),
    [
        ("{server: http, command: [/bin/x]}", 4, '"url" is missing'),
        ("{server: stdio, url: 'https://a.example'}", 4, '"command" is missing'),
        ("{server: stdio, command: [bin/x]}", 4, "neither an absolute path nor a plain name"),
        ("{server: stdio, command: [/bin/x], env: ['*']}", 4, "must name each credential"),
        ("{server: stdio, command: [/bin/x], aliases: {mcp.tool.call: {tool: t}}}", 4, "the protocol's own"),
    ],
)
def test_what_the_parts_of_a_block_ask_of_each_other_is_checked(block: str, line: int, said: str) -> None:
    result = loaded(f"id: a\nversion: 1.0.0\ntransport: mcp\nmcp: {block}\n")
    assert result.adapters == ()
    found = next(one for one in result.diagnostics if said in one.message)
    assert found.primary is not None
    assert (found.code, found.primary.line) == ("EVA-703", line)


def test_the_id_of_an_mcp_server_leaves_no_doubt_where_the_name_of_a_tool_begins() -> None:
    head = "version: 1.0.0\ntransport: mcp\nmcp: {server: stdio, command: [/bin/x]}\nid: "
    assert loaded(f"{head}a__b\n").adapters == ()
    assert loaded(f"{head}a_b\n").diagnostics == ()
    assert "the kernel's own" in loaded(f"{head}Kernel\n").diagnostics[0].message


def test_schemas_are_read_with_what_they_refer_to_and_what_is_wrong_in_them_is_told_there() -> None:
    text = FILES.replace("{type: object}", "schemas/in.json")
    result = loaded(text)
    assert result.diagnostics == ()
    assert {*result.schemas} == {"schemas/in.json", "schemas/common.json"}
    contract = result.adapters[0].contracts["repo.file.read"]
    assert [one.pointer for one in contract.takes.check({"path": 3})] == ["/path"]
    for path, code in (("schemas/none.json", "EVA-302"), ("schemas/broken.json", "EVA-303")):
        broken = loaded(FILES.replace("{type: object}", path))
        assert (broken.adapters, [one.code for one in broken.diagnostics]) == ((), [code])


def test_an_adapter_must_be_called_something() -> None:
    [found] = loaded("id: a\nversion: 1.0.0\ntransport: http\nhttp: {url: 'https://a.example'}\n").diagnostics
    assert "nobody could call it" in found.message


def test_no_event_of_the_kernel_is_a_request_or_an_answer() -> None:
    block = "eventbus: {request_topic: /jobs/a, reply_topic: /Capability/loaded}"
    [found] = loaded(f"id: a\nversion: 1.0.0\ntransport: eventbus\ncapabilities: [a.b]\n{block}\n").diagnostics
    assert "only the kernel emits" in found.message


@pytest.mark.parametrize(
    ("permissions", "said"),
    [
        ("{shell: {commands: [[files]]}, env: [TOKEN]}", ""),
        ("{shell: {commands: [[other]]}, env: [TOKEN]}", "shell.commands does not cover"),
        ("{shell: {commands: [[files]]}}", "env does not cover TOKEN"),
    ],
)
def test_what_it_says_that_it_may_reach_bounds_its_block(permissions: str, said: str) -> None:
    result = loaded(FILES.replace("--serve]", "--serve]\n  env: [TOKEN]") + f"permissions: {permissions}\n")
    assert [said in found.message for found in result.diagnostics] == ([True] if said else [])
    host = "id: a\nversion: 1.0.0\ntransport: http\ncapabilities: [a.b]\nhttp: {url: 'https://a.example/x'}\n"
    assert loaded(f"{host}permissions: {{network: {{hosts: ['*.example']}}}}\n").diagnostics == ()
    [found] = loaded(f"{host}permissions: {{network: false}}\n").diagnostics
    assert "network.hosts does not cover a.example" in found.message


SCALE = "{vendor_id: '0403', serial: FT-1}"


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (f"bus: serial, match: {SCALE}", ""),
        ("bus: serial, match: {path: 1-2.3}, hotplug: {reconnect_backoff_ms: 500, max_reconnect_attempts: 3}", ""),
        ("bus: remote, match: {address: 'rfc2217://scales.example.org:4000'}", ""),
        ("bus: remote, match: {address: 'socket://[fd00::1]:4000'}", ""),
        ("bus: hid, driver: {kind: hid}, protocol: {kind: hid_report, commands: {test.out: '0a {x}'}}", ""),
        ("bus: serial, match: {path: /dev/ttyUSB0}", "match.path"),
        ("bus: remote", "must say where"),
        ("bus: remote, match: {address: 'rfc2217://h:1?logging=debug'}", "match.address"),
        ("bus: remote, match: {address: 'socket://h:1', serial: X-1}", "by its address"),
        ("bus: serial, match: {address: 'socket://h:1'}", "is of the bus remote"),
        ("bus: sim, match: {service_uuid: '180d'}", "Bluetooth"),
        ("bus: hid, match: {serial: P-1}", "hid has hid_report"),
        ("bus: serial, protocol: {kind: hid_report, commands: {test.out: '00'}}", "hid has hid_report"),
        ("bus: serial, driver: {kind: hid}", "of the bus hid"),
        ("bus: sim, protocol: {kind: hid_report, commands: {test.out: 0a f}}", "in pairs"),
        (
            "bus: sim, protocol: {kind: hid_report, commands: {test.out: 0a}, handshake: {send: '{x}', expect: 0a}}",
            "no payload",
        ),
        ("bus: sim, hotplug: {claim: shared_read}", "hotplug.claim"),
        ("bus: sim, protocol: {kind: line_text}", "does not say what is sent"),
    ],
)
def test_which_device_is_meant_and_how_it_is_spoken_to_contradicts_nothing(block: str, said: str) -> None:
    text = "id: scale\nversion: 1.0.0\ntransport: hardware\ncapabilities: [test.out]\n"
    found = loaded(f"{text}hardware: {{identity: {{logical_name: scale.main}}, {block}}}\n")
    assert [said in problem.message for problem in found.diagnostics] == ([True] if said else [])
