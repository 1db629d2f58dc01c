"""What a manifest may say, and where and how it is told what it may not."""

from __future__ import annotations

import hashlib

import pytest

from evatui.kernel.admission.manifest import values_of
from evatui.kernel.model.diagnostic import Level
from evatui.kernel.model.manifest import AuditLevel, ExamplesPolicy, Kind, Migration, SideEffects, TrustSource
from evatui.kernel.model.permissions import Network
from evatui.kernel.workspace.layout import Layout
from tests.admission.harness import MANIFEST, NOTES, accepted, edited, judge, line_of, only, refused

SKILL = "kind: lua_skill\nruntime_gate: {allowed_modes: [normal, team]}"
HANDLER = "kind: lua_mcp_handler\nmcp: {tool_name: notes.find}"

# what stands in the good manifest, what replaces it, a text on the line to blame, code, reason, words of the message
WRONG = [
    ("version: 2.3.1", "verison: 2.3.1", "verison", "EVA-204", "manifest_invalid", 'unknown key "verison"'),
    ("    write: []\n", "    wirte: []\n", "wirte", "EVA-204", "manifest_invalid", 'unknown key "wirte"'),
    ("analysis: {min_samples: 5,", "analysis: {samples: 5,", "samples", "EVA-204", "manifest_invalid", "samples"),
    ("  emit: [/notes/**]", "  emit: [/notes/**]\n    emitt: []", "emitt", "EVA-204", "manifest_invalid", "emitt"),
    ("name: Team notes", "name: 007", "007", "EVA-205", "manifest_invalid", "is a number"),
    ("name: Team notes", "name: true", "name: true", "EVA-205", "manifest_invalid", "is a boolean"),
    ("version: 2.3.1-beta.1", "version: 2.30", "2.30", "EVA-205", "manifest_invalid", "2.30 is a number"),
    ("version: 2.3.1-beta.1", 'version: "2.3"', '"2.3"', "EVA-207", "manifest_invalid", "semantic version"),
    ("version: 2.3.1-beta.1", "version: 1.0.0+build.1", "build", "EVA-207", "manifest_invalid", "without build"),
    ("version: 2.3.1-beta.1", "version: 1.02.3", "1.02.3", "EVA-207", "manifest_invalid", "semantic version"),
    ("id: team-notes", "id: 12", "id: 12", "EVA-205", "manifest_invalid", "id"),
    ("id: team-notes", "id: -notes", "id: -notes", "EVA-207", "manifest_invalid", "an id of"),
    ("id: team-notes", "id: tëam", "id: tëam", "EVA-207", "manifest_invalid", "an id of"),
    ("id: team-notes", "id: a/b", "id: a/b", "EVA-207", "manifest_invalid", "an id of"),
    ("kind: lua_tool", "kind: lua_tol", "lua_tol", "EVA-208", "manifest_invalid", "lua_tool, lua_skill"),
    ("kind: lua_tool", "kind: runtime_worker", "worker", "EVA-212", "runtime_worker", "never a capability"),
    ("kind: lua_tool", "kind: lua_skill", "lua_skill", "EVA-202", "manifest_invalid", "runtime_gate"),
    ("kind: lua_tool", "kind: lua_mcp_handler", "lua_mcp", "EVA-202", "manifest_invalid", "mcp.tool_name"),
    ("kind: lua_tool", "kind: lua_mcp_handler\nmcp: {}", "mcp: {}", "EVA-202", "manifest_invalid", "tool_name"),
    ("trust: {", "mcp: {tool_name: a}\ntrust: {", "mcp:", "EVA-209", "manifest_invalid", "lua_mcp_handler only"),
    ("trust: {", "runtime_gate: {}\ntrust: {", "runtime_gate:", "EVA-209", "manifest_invalid", "lua_skill only"),
    ("trust: {", "expose_as_capability: true\ntrust: {", "expose", "EVA-209", "manifest_invalid", "handler only"),
    ("enabled: true", 'enabled: "true"', "enabled", "EVA-206", "manifest_invalid", "true or false"),
    ("enabled: true", "enabled: yes", "enabled", "EVA-203", "manifest_invalid", "true or false"),
    ("enabled: true", "enabled: 1", "enabled", "EVA-203", "manifest_invalid", "true or false"),
    ("enabled: true", "enabled:", "enabled", "EVA-203", "manifest_invalid", "found nothing"),
    ("priority: 60", "priority: 101", "101", "EVA-207", "manifest_invalid", "between 0 and 100"),
    ("priority: 60", "priority: -1", "-1", "EVA-207", "manifest_invalid", "between 0 and 100"),
    ("priority: 60", "priority: 60.5", "60.5", "EVA-203", "manifest_invalid", "whole number"),
    ("priority: 60", "priority: '60'", "'60'", "EVA-206", "manifest_invalid", "is text"),
    ("priority: 60", "priority: high", "high", "EVA-203", "manifest_invalid", "whole number"),
    ("timeout_ms: 2000\n", "timeout_ms: 0\n", "timeout_ms: 0", "EVA-207", "manifest_invalid", "at least 1"),
    ("concurrency: 3", "concurrency: -3", "-3", "EVA-207", "manifest_invalid", "at least 1"),
    ("memory_bytes: 8388608", "memory_bytes: 8MB", "8MB", "EVA-203", "manifest_invalid", "whole number"),
    ("host_calls: 20", "host_calls: true", "host_calls", "EVA-203", "manifest_invalid", "whole number"),
    ("drain_timeout_ms: 500", "drain_timeout_ms: -1", "-1", "EVA-207", "manifest_invalid", "at least 0"),
    ("max_error_rate: 0.5", "max_error_rate: 1.5", "1.5", "EVA-207", "manifest_invalid", "between 0 and 1"),
    ("strategy: generation_swap", "strategy: restart", "restart", "EVA-208", "manifest_invalid", "generation_swap"),
    ("canary: null", "canary: {percent: -5}", "percent", "EVA-207", "manifest_invalid", "between 0 and 100"),
    ("canary: null", "canary: {percent: some}", "percent", "EVA-203", "manifest_invalid", "a number"),
    ("canary: null", "canary: 10", "canary: 10", "EVA-203", "manifest_invalid", "a mapping"),
    ("log_output: full", "log_output: all", "log_output", "EVA-208", "manifest_invalid", "metadata_only"),
    ("isolation: auto", "isolation: none", "isolation", "EVA-208", "manifest_invalid", "in_process"),
    ("trust: {source: project}", "trust: {source: me}", "trust", "EVA-208", "manifest_invalid", "third_party"),
    ("trust: {source: project}", "trust: project", "trust", "EVA-203", "manifest_invalid", "a mapping"),
    ("schema_version: 4", "schema_version: 0", "schema_version", "EVA-207", "manifest_invalid", "at least 1"),
    (
        "{schema_version: 4}",
        "{schema_version: 4, migrations: [{from: 3, to: 3, entry: up}]}",
        "migrations",
        "EVA-207",
        "manifest_invalid",
        "higher schema version",
    ),
    ("entry: find", "entry: 'find()'", "entry", "EVA-207", "manifest_invalid", "name of a Lua function"),
    ("health_check: ready", "health_check: [ready]", "ready", "EVA-203", "manifest_invalid", "found a list"),
    ("modules: {words:", "modules: {'../words':", "words", "EVA-207", "manifest_invalid", "name of a Lua module"),
    ("  - notes.count", "  - notes..count", "notes..count", "EVA-207", "manifest_invalid", "dotted segments"),
    ("  - notes.count", "  - notes.find", "- notes.find", "EVA-211", "manifest_invalid", "twice"),
    ("  - notes.count", "  - Notes.Find", "- Notes.Find", "EVA-211", "manifest_invalid", "twice"),
    ("[GET, POST]", "[GET, FETCH]", "FETCH", "EVA-208", "manifest_invalid", "OPTIONS"),
    ("[api.example.org]", "['https://api.example.org']", "https", "EVA-207", "manifest_invalid", "host name"),
    ("[/notes/**]", "[notes]", "emit", "EVA-207", "manifest_invalid", "topic pattern"),
    ("env: [NOTES_KEY]", "env: NOTES_KEY", "env:", "EVA-203", "manifest_invalid", "a list"),
    ("env: [NOTES_KEY]", "env: ['A=B']", "env:", "EVA-207", "manifest_invalid", "name of a credential"),
    (
        "shell: {commands: [[git, status, --short]]}",
        "shell: {commands: [git]}",
        "shell",
        "EVA-203",
        "manifest_invalid",
        "a list",
    ),
    (
        "shell: {commands: [[git, status, --short]]}",
        "shell: true",
        "shell",
        "EVA-417",
        "policy_denied",
        "every command",
    ),
    ("      - workspace/docs", "      - workspace/../..", "..", "EVA-210", "path_not_allowed", "plain path"),
    ("      - workspace/docs", "      - /etc", "/etc", "EVA-210", "path_not_allowed", "plain path"),
    ("      - workspace/docs", "      - workspace/*", "workspace/*", "EVA-207", "manifest_invalid", "alone"),
    ("tools/notes.lua", "../../notes.lua", "../../notes.lua", "EVA-210", "path_not_allowed", ".."),
    ("capabilities/tools/notes.lua", "/etc/notes.lua", "/etc", "EVA-210", "path_not_allowed", "relative"),
    ("capabilities/tools/notes.lua", "C:/notes.lua", "C:/", "EVA-210", "path_not_allowed", "relative"),
    ("capabilities/tools/notes.lua", "capabilities\\tools\\notes.lua", "tools", "EVA-210", "path_not_allowed", "/"),
    ("schemas/notes.input.json", "../notes.json", "../notes.json", "EVA-210", "path_not_allowed", ".."),
    (
        "input_schema: schemas/notes.input.json",
        "input_schema: true",
        "input_schema",
        "EVA-203",
        "manifest_invalid",
        "inline",
    ),
    ("trust: {", "integrity: {a.lua: 12}\ntrust: {", "integrity", "EVA-205", "manifest_invalid", "SHA-256"),
    ("trust: {", "integrity: {a.lua: abc}\ntrust: {", "integrity", "EVA-207", "manifest_invalid", "SHA-256"),
]


@pytest.mark.parametrize(("old", "new", "line", "code", "reason", "words"), WRONG, ids=[case[1][:40] for case in WRONG])
def test_a_wrong_value_is_told_at_its_line(
    layout: Layout, old: str, new: str, line: str, code: str, reason: str, words: str
) -> None:
    files = edited(manifest=(old, new))
    verdict = refused(judge(files, layout))
    found = next(d for d in verdict.diagnostics if d.code == code)
    assert found.reason == reason
    assert words in found.message + " ".join(span.label for span in found.spans)
    assert found.primary is not None
    assert (found.primary.file, found.primary.line) == (MANIFEST, _line(files, line))
    assert f"{MANIFEST}:{found.primary.line}:{found.primary.column}" in found.rendered


def _line(files: dict[str, str], text: str) -> int:
    """The last line that holds the text: later ones are the changed ones."""
    return max(number for number, line in enumerate(files[MANIFEST].split("\n"), 1) if text in line)


@pytest.mark.parametrize(
    ("key", "code", "reason"),
    [
        ("id", "EVA-202", "manifest_invalid"),
        ("kind", "EVA-202", "manifest_invalid"),
        ("version", "EVA-202", "manifest_invalid"),
        ("lua", "EVA-202", "manifest_invalid"),
        ("capabilities", "EVA-202", "manifest_invalid"),
        ("input_schema", "EVA-301", "schema_missing"),
        ("output_schema", "EVA-301", "schema_missing"),
    ],
)
def test_a_required_key_that_is_absent_is_named(layout: Layout, key: str, code: str, reason: str) -> None:
    lines = NOTES[MANIFEST].split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{key}:"))
    end = next(number for number in range(start + 1, len(lines)) if not lines[number].startswith(" "))
    files = {**NOTES, MANIFEST: "\n".join(lines[:start] + lines[end:])}
    verdict = refused(judge(files, layout))
    assert verdict.id == (None if key == "id" else "team-notes")
    found = verdict.diagnostics[0]
    assert (found.code, found.reason) == (code, reason)
    assert f'"{key}" is missing' in found.message


def test_a_prefix_with_a_wrong_word_is_no_wider_one(layout: Layout) -> None:
    verdict = refused(judge(edited(manifest=("[[git, status, --short]]", '[["", git]]')), layout))
    assert [found.code for found in verdict.diagnostics] == ["EVA-207"]


def test_a_good_manifest_keeps_all_that_it_says(layout: Layout) -> None:
    candidate = accepted(judge(NOTES, layout))
    manifest = candidate.manifest
    assert (manifest.id, manifest.kind, manifest.version) == ("team-notes", Kind.LUA_TOOL, "2.3.1-beta.1")
    assert (manifest.lua.entry, manifest.lua.health_check) == ("find", "ready")
    assert dict(manifest.lua.modules) == {"words": "capabilities/modules/words.lua"}
    assert (manifest.priority, manifest.limits.concurrency, manifest.limits.state_bytes) == (60, 3, 0)
    assert manifest.reload.examples is ExamplesPolicy.REQUIRE
    assert (manifest.reload.drain_timeout_ms, manifest.reload.rollback_on_failure) == (500, False)
    assert (manifest.audit.log_input, manifest.audit.log_output) == (AuditLevel.NONE, AuditLevel.FULL)
    assert manifest.side_effects is SideEffects.IDEMPOTENT
    assert manifest.permissions.network == Network(("api.example.org",), ("GET", "POST"))
    assert manifest.permissions.shell.commands == (("git", "status", "--short"),)
    assert candidate.permissions == manifest.permissions
    assert candidate.input_name == "schemas/notes.input.json"


def test_the_shortest_manifest_shows_every_default(layout: Layout) -> None:
    files = {
        **NOTES,
        MANIFEST: "id: short\nkind: lua_tool\nversion: 0.1.0\ncapabilities: [a]\n"
        "lua: {script: capabilities/tools/notes.lua}\n"
        "input_schema: {type: object}\noutput_schema: schemas/notes.output.json\n",
    }
    verdict = accepted(judge(files, layout))
    assert verdict.manifest.name == "short"
    assert dict(values_of(verdict.snapshot.document)) == {
        "id": "short",
        "name": "short",
        "description": "",
        "kind": "lua_tool",
        "version": "0.1.0",
        "enabled": True,
        "priority": 50,
        "capabilities": ["a"],
        "lua": {"script": "capabilities/tools/notes.lua", "entry": "invoke", "health_check": None, "modules": {}},
        "input_schema": {"type": "object"},
        "output_schema": "schemas/notes.output.json",
        "permissions": {
            "fs": {"read": [], "write": []},
            "network": False,
            "shell": False,
            "env": [],
            "adapters": {"capabilities": [], "providers": []},
            "events": {"emit": []},
        },
        "limits": {
            "timeout_ms": 30000,
            "max_input_bytes": 65536,
            "max_output_bytes": 262144,
            "concurrency": 4,
            "memory_bytes": 16777216,
            "host_calls": 1000,
            "state_bytes": 1048576,
        },
        "reload": {
            "hot_reload": True,
            "strategy": "generation_swap",
            "drain_timeout_ms": 10000,
            "rollback_on_failure": True,
            "canary": None,
            "analysis": {
                "min_samples": 20,
                "window_s": 60,
                "max_error_rate": 0.2,
                "deadline_s": 600,
                "on_insufficient_data": "hold",
            },
            "examples": "warn",
        },
        "audit": {"log_input": "metadata_only", "log_output": "metadata_only"},
        "isolation": "auto",
        "side_effects": "none",
        "trust": {"source": "project"},
        "state": {"schema_version": 1, "migrations": []},
        "integrity": {},
        "mcp": None,
        "runtime_gate": None,
        "expose_as_capability": False,
    }


def test_everything_wrong_is_told_at_once_in_the_order_of_the_stages(layout: Layout) -> None:
    files = edited(
        manifest=("priority: 60", "priority: 600\nverison: 1"),
        takes=('"type": "string"', '"type": "strng"'),
        policy=("env: [NOTES_KEY]", "env: []"),
    )
    del files["capabilities/tools/notes.lua"]
    verdict = refused(judge(files, layout))
    assert [d.code for d in verdict.diagnostics] == ["EVA-207", "EVA-204", "EVA-304", "EVA-410", "EVA-501"]
    assert "the first of 5 problems" in verdict.diagnostics[0].rendered
    assert all("the first of" not in d.rendered for d in verdict.diagnostics[1:])
    assert verdict.missing == ("capabilities/tools/notes.lua",)


@pytest.mark.parametrize(
    ("text", "told"),
    [("", "the manifest is empty"), ("# only a comment\n", "empty"), ("- a\n- b\n", "a list"), ("hello", '"hello"')],
)
def test_a_manifest_that_is_no_mapping_is_refused_by_its_path(layout: Layout, text: str, told: str) -> None:
    verdict = refused(judge({**NOTES, MANIFEST: text}, layout))
    assert (verdict.id, verdict.path) == (None, MANIFEST)
    found = verdict.diagnostics[0]
    assert (found.code, found.reason) == ("EVA-201", "manifest_invalid")
    assert told in found.message


def test_broken_yaml_is_refused_under_the_id_that_it_seems_to_have(layout: Layout) -> None:
    verdict = refused(judge(edited(manifest=("name: Team notes", 'name: "Team')), layout))
    assert (verdict.id, verdict.unread) == ("team-notes", True)
    assert verdict.diagnostics[0].reason == "yaml_invalid"
    assert refused(judge({**NOTES, MANIFEST: "id: a\nid: b\n: ["}, layout)).id is None


def test_a_disabled_manifest_is_checked_like_any_other(layout: Layout) -> None:
    assert accepted(judge(edited(manifest=("enabled: true", "enabled: false")), layout)).manifest.enabled is False
    refused(judge(edited(manifest=("enabled: true\npriority: 60", "enabled: false\npriority: 600")), layout))


def test_migrations_are_read(layout: Layout) -> None:
    state = "{schema_version: 4, migrations: [{from: 3, to: 4, entry: up}]}"
    files = edited(manifest=("{schema_version: 4}", state))
    assert accepted(judge(files, layout)).manifest.migrations == (Migration(3, 4, "up"),)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("[{from: 3, to: 5, entry: up}]", "beyond the schema version 4"),
        ("[{from: 3, to: 4, entry: a}, {from: 3, to: 4, entry: b}]", "two migrations lead from 3 to 4"),
    ],
)
def test_migrations_lead_to_the_schema_of_the_manifest_each_way_once(layout: Layout, steps: str, said: str) -> None:
    files = edited(manifest=("{schema_version: 4}", f"{{schema_version: 4, migrations: {steps}}}"))
    found = only(judge(files, layout))
    assert (found.reason, said in found.message) == ("manifest_invalid", True)
    assert found.primary is not None
    assert found.primary.line == line_of(files, MANIFEST, "migrations")


def test_a_skill_runs_only_in_the_modes_of_its_gate(layout: Layout) -> None:
    assert accepted(judge(edited(manifest=("kind: lua_tool", SKILL)), layout)).manifest.kind is Kind.LUA_SKILL
    files = edited(manifest=("kind: lua_tool", SKILL.replace("[normal, team]", "[team]")))
    found = only(judge(files, layout))
    assert (found.code, found.reason) == ("EVA-213", "runtime_gate_mismatch")
    assert found.primary is not None
    assert found.primary.line == line_of(files, MANIFEST, "runtime_gate")


def test_a_misspelt_mode_is_told_of_and_no_mismatch_that_follows_from_it(layout: Layout) -> None:
    found = only(judge(edited(manifest=("kind: lua_tool", SKILL.replace("normal", "norml"))), layout))
    assert (found.code, "norml" in found.message) == ("EVA-208", True)


def test_trust_is_only_ever_lowered(layout: Layout) -> None:
    verdict = refused(judge(edited(manifest=("{source: project}", "{source: unknown}")), layout))
    assert verdict.manifest is not None
    assert verdict.manifest.trust is TrustSource.UNKNOWN


def test_integrity_names_the_files_that_were_meant(layout: Layout) -> None:
    right = hashlib.sha256(NOTES["capabilities/tools/notes.lua"].encode()).hexdigest()
    entry = f"integrity: {{./capabilities/tools/notes.lua: {right.upper()}}}"
    accepted(judge(edited(manifest=("isolation: auto", entry)), layout))
    for text in (f"capabilities/tools/notes.lua: '{'0' * 64}'", f"capabilities/tools/other.lua: {right}"):
        files = edited(manifest=("isolation: auto", f"integrity:\n  {text}"))
        found = only(judge(files, layout))
        assert (found.code, found.reason) == ("EVA-214", "integrity_mismatch")
        assert found.primary is not None
        assert found.primary.line == line_of(files, MANIFEST, f"  {text}")


def test_a_key_at_the_wrong_depth_is_told_where_it_belongs(layout: Layout) -> None:
    found = only(judge(edited(manifest=("priority: 60", "timeout_ms: 60")), layout))
    assert "timeout_ms belongs under limits" in found.rendered


def test_what_is_shown_as_a_name_cannot_steer_a_terminal(layout: Layout) -> None:
    files = edited(manifest=("name: Team notes", 'name: "Team\\u202e notes\\e[31m"'))
    name = accepted(judge(files, layout)).manifest.name
    assert not set("\u202e\x1b") & set(name)


def test_no_diagnostic_is_only_a_warning_in_a_refusal(layout: Layout) -> None:
    files = edited(takes=('"required"', '"requird"'))
    candidate = accepted(judge(files, layout))
    (warning,) = candidate.warnings
    assert (warning.code, warning.level) == ("EVA-310", Level.WARNING)
    assert "did you mean required?" in warning.rendered
