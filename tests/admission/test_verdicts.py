"""Verdicts on a real disk, on manifests that share an id, and on code that does not load."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evatui.kernel.admission.admit import admit, duplicates, lua_rejection
from evatui.kernel.admission.verdict import Candidate, Rejection, Verdict
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.workspace.files import FileProblem, ProblemKind
from evatui.kernel.workspace.layout import Layout
from tests.admission.harness import (
    MANIFEST,
    NOTES,
    POLICY,
    SCRIPT,
    TAKES,
    accepted,
    edited,
    judge,
    judge_disk,
    line_of,
    only,
    policy_of,
    refused,
    snapshot,
)

TOOL = """\
id: repo-summary
name: Repository Summary
kind: lua_tool
version: 1.2.0

capabilities:
  - repo.summary

lua:
  script: config/tools/repo_summary.lua
  entry: invoke
  health_check: health_check

input_schema: schemas/repo_summary.input.json
output_schema: schemas/repo_summary.output.json

permissions:
  fs:
    read:
      - workspace
    write: []
  network: false
  shell: false
  env: []
  adapters:
    capabilities:
      - repo.file.read

limits:
  timeout_ms: 30000
  max_input_bytes: 65536
  max_output_bytes: 262144
  concurrency: 4

reload:
  hot_reload: true
  strategy: generation_swap
  drain_timeout_ms: 10000
  rollback_on_failure: true

audit:
  log_input: metadata_only
  log_output: metadata_only
"""
HANDLER = """\
id: project-summary-mcp
kind: lua_mcp_handler
version: 1.0.0

mcp:
  tool_name: project.summary
  description: Summarize the current Eva-CLI project

lua:
  script: config/mcp_handlers/project_summary.lua
  entry: invoke

input_schema: schemas/mcp.project_summary.input.json
output_schema: schemas/mcp.project_summary.output.json

permissions:
  fs:
    read:
      - workspace
  adapters:
    capabilities:
      - repo.summary
"""
SKILL = """\
id: config-lint-skill
kind: lua_skill
version: 1.0.0

capabilities:
  - workflow.config_lint

lua:
  script: config/skills/config_lint.lua
  entry: invoke
  health_check: health_check

runtime_gate:
  allowed_modes:
    - normal
  disallow_team_worker: true

input_schema: schemas/config_lint.input.json
output_schema: schemas/config_lint.output.json

permissions:
  fs:
    read:
      - workspace
    write: []
  shell: false
  network: false
"""
CONFIG = {
    "config/eva.yaml": "version: 1\n",
    "config/policies/default.yaml": 'grants:\n  - match: {ids: ["*"]}\n    fs: {read: [workspace]}\n'
    "    adapters: {capabilities: [repo.file.read, repo.summary]}\n",
    "config/capabilities/repo-summary.yaml": TOOL,
    "config/capabilities/project-summary-mcp.yaml": HANDLER,
    "config/capabilities/config-lint-skill.yaml": SKILL,
    "config/tools/repo_summary.lua": "",
    "config/mcp_handlers/project_summary.lua": "",
    "config/skills/config_lint.lua": "",
    **{
        f"schemas/{name}.{way}.json": '{"type": "object"}'
        for name in ("repo_summary", "mcp.project_summary", "config_lint")
        for way in ("input", "output")
    },
}


def test_a_workspace_in_the_config_layout_is_admitted_as_it_is(tmp_path: Path) -> None:
    verdicts = judge_disk(tmp_path, CONFIG)
    tool = accepted(verdicts["config/capabilities/repo-summary.yaml"])
    assert tool.permissions.fs.read == ("workspace",)
    assert tool.permissions.adapters.capabilities == ("repo.file.read",)
    skill = accepted(verdicts["config/capabilities/config-lint-skill.yaml"])
    assert skill.manifest.runtime_gate is not None
    handler = accepted(verdicts["config/capabilities/project-summary-mcp.yaml"])
    assert handler.manifest.mcp is not None
    assert handler.manifest.mcp.tool_name == "project.summary"


def test_the_disk_and_the_memory_give_one_verdict(tmp_path: Path, layout: Layout) -> None:
    candidate = accepted(judge_disk(tmp_path, NOTES)[MANIFEST])
    assert candidate.manifest == accepted(judge(NOTES, layout)).manifest
    assert candidate.script_digest == candidate.snapshot.files[SCRIPT].digest


def test_a_link_that_leads_out_is_refused_at_the_line_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "secret.lua").write_text("return {}")
    root = tmp_path / "ws"
    (root / "capabilities/tools").mkdir(parents=True)
    (root / SCRIPT).symlink_to(tmp_path / "secret.lua")
    files = {path: text for path, text in NOTES.items() if path != SCRIPT}
    found = only(judge_disk(root, files)[MANIFEST])
    assert (found.code, found.reason) == ("EVA-210", "path_not_allowed")
    assert found.primary is not None
    assert found.primary.line == line_of(NOTES, MANIFEST, "script:")
    assert str(tmp_path) not in found.rendered


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("capabilities/tools/notes.lua", "schemas/notes.lua", "script:"),
        ("capabilities/modules/words.lua", "elsewhere/words.lua", "words.lua"),
        ("schemas/notes.input.json", "capabilities/notes.input.json", "input_schema"),
    ],
)
def test_a_file_outside_its_folders_is_refused_even_inside_the_workspace(
    tmp_path: Path, old: str, new: str, line: str
) -> None:
    files = edited(manifest=(old, new))
    files[new] = files[old]
    found = only(judge_disk(tmp_path, files)[MANIFEST])
    assert (found.code, found.reason) == ("EVA-210", "path_not_allowed")
    assert found.primary is not None
    assert found.primary.line == line_of(files, MANIFEST, line)


OTHER = "capabilities/more/notes.yaml"


def twins(layout: Layout, second: str = "team-notes", **edits: tuple[str, str]) -> list[Verdict]:
    files = edited(**edits)
    files[OTHER] = NOTES[MANIFEST].replace("id: team-notes", f"id: {second}")
    return [judge(files, layout), judge(files, layout, OTHER)]


def test_of_two_manifests_with_one_id_the_active_one_stays(layout: Layout) -> None:
    first, second = duplicates(twins(layout), {"team-notes": OTHER})
    assert isinstance(second, Candidate)
    found = only(first)
    assert (found.code, found.reason) == ("EVA-215", "duplicate_id")
    assert {span.file for span in found.spans} == {MANIFEST, OTHER}
    assert f"{MANIFEST}:2:5" in found.rendered
    assert f"{OTHER}:2:5" in found.rendered
    assert "is active and stays" in found.message


def test_at_a_cold_start_neither_is_loaded(layout: Layout) -> None:
    for second in ("team-notes", "Team-Notes"):
        verdicts = duplicates(twins(layout, second), {})
        assert [refused(verdict).diagnostics[0].code for verdict in verdicts] == ["EVA-215", "EVA-215"]
    assert all(isinstance(verdict, Candidate) for verdict in duplicates(twins(layout, "team-other"), {}))


def test_a_refused_twin_counts_but_an_unreadable_one_does_not(layout: Layout) -> None:
    first, second = duplicates(twins(layout, manifest=("priority: 60", "priority: 600")), {})
    assert [d.code for d in refused(first).diagnostics] == ["EVA-215", "EVA-207"]
    assert isinstance(second, Rejection)
    first, second = duplicates(twins(layout, manifest=("priority: 60", "priority: [")), {})
    assert refused(first).unread
    assert isinstance(second, Candidate)


def test_lua_that_does_not_load_is_told_at_its_line(layout: Layout) -> None:
    candidate = accepted(judge(NOTES, layout))
    rejection = lua_rejection(
        candidate, reason=Reason.LUA_LOAD_FAILED, message="'end' expected\x1b[2J", file=SCRIPT, line=2, notes=("x",)
    )
    found = only(rejection)
    assert (rejection.id, rejection.path, rejection.digest) == ("team-notes", MANIFEST, candidate.digest)
    assert (found.code, found.reason, found.notes) == ("EVA-502", "lua_load_failed", ("x",))
    assert f"--> {SCRIPT}:2:3" in found.rendered
    assert "  return {ok = true, result = {}}\n" in found.rendered
    assert "\x1b" not in found.rendered


@pytest.mark.parametrize(
    ("reason", "file", "line", "code", "place"),
    [
        (Reason.LUA_LOAD_FAILED, None, None, "EVA-502", (MANIFEST, 14)),
        (Reason.HEALTH_FAILED, None, None, "EVA-503", (MANIFEST, 15)),
        (Reason.HEALTH_FAILED, SCRIPT, 6, "EVA-503", (SCRIPT, 6)),
        (Reason.LUA_LOAD_FAILED, SCRIPT, 999, "EVA-502", (SCRIPT, 999)),
        (Reason.LUA_LOAD_FAILED, SCRIPT, None, "EVA-502", (SCRIPT, 1)),
        (Reason.LUA_LOAD_FAILED, "nobody.lua", 3, "EVA-502", (MANIFEST, 14)),
    ],
)
def test_where_a_failed_load_is_placed(
    layout: Layout, reason: Reason, file: str | None, line: int | None, code: str, place: tuple[str, int]
) -> None:
    candidate = accepted(judge(NOTES, layout))
    found = only(lua_rejection(candidate, reason=reason, message="no", file=file, line=line))
    assert found.primary is not None
    assert (found.code, found.primary.file, found.primary.line) == (code, *place)


@pytest.mark.parametrize(("path", "code"), [(SCRIPT, "EVA-501"), (TAKES, "EVA-302")])
def test_a_file_that_may_not_be_read_need_not_be_made(layout: Layout, path: str, code: str) -> None:
    whole = snapshot(NOTES)
    forbidden = {path: FileProblem(path, ProblemKind.UNREADABLE, "permission denied")}
    files = {name: file for name, file in whole.files.items() if name != path}
    verdict = admit(replace(whole, files=files, missing=forbidden), layout=layout, policy=policy_of(NOTES).policy)
    found = only(verdict)
    assert (found.code, found.fix) == (code, "Give the user that runs evatui the right to read it.")


def test_one_missing_file_is_told_once_with_every_place(layout: Layout) -> None:
    files = edited(
        manifest=(
            "output_schema: schemas/notes.output.json",
            f"output_schema: {TAKES}\nintegrity: {{{TAKES}: '{'0' * 64}'}}",
        )
    )
    found = only(judge({path: text for path, text in files.items() if path != TAKES}, layout))
    assert (found.code, found.reason) == ("EVA-302", "file_missing")
    lines = [line_of(files, MANIFEST, f"{way}_schema:") for way in ("input", "output")]
    assert [span.line for span in found.spans] == lines


def test_a_broken_policy_is_told_once_and_what_follows_from_it_in_a_note(layout: Layout) -> None:
    (found,) = refused(judge(edited(policy=("version: 1", "vresion: 1")), layout)).diagnostics
    assert (found.code, found.primary and found.primary.file) == ("EVA-402", POLICY)
    assert any("nothing is granted" in note for note in found.notes)
    assert "nothing is granted" in found.rendered
