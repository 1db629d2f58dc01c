"""Skills as adapters: the text of one answers a call, where schemas, policy and runtime gate let it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evatui.kernel.model.call import Actor, CallerType, CallRequest
from evatui.runtime import Runtime
from tests.runtime.conftest import ANN, call
from tests.support.workspaces import save, tool, write

Start = Callable[..., Awaitable[Runtime]]

POLICY = "capabilities/policies/default.yaml"
SKILL = "skills/review/SKILL.md"
TEXT = "---\nname: review\ndescription: Reviews.\nversion: 2.0.0\nallowed-tools: Read, Grep\n{}---\nLook {}.\n"
ADAPTER = """\
id: reviewer
version: 1.0.0
transport: skill
capabilities: [workflow.review]
side_effects: none
skill: {name: review}
"""
SCHEMAS = """\
schemas:
  workflow.review:
    input: {type: object, required: [path]}
    output: {type: object, required: [instructions], properties: {instructions: {type: string, maxLength: 40}}}
"""


def lua_skill(name: str, gate: str) -> dict[str, str]:
    files = tool(name, "function invoke(ctx, request) return {ok = true, result = 1} end")
    return {path: text.replace("lua_tool\n", f"lua_skill\n{gate}") for path, text in files.items()}


@pytest.fixture
def ground(workspace: Path) -> Path:
    adapter = ADAPTER + SCHEMAS
    write(workspace, {SKILL: TEXT.format("", "closely"), "capabilities/adapters/review.yaml": adapter})
    return workspace


async def answered(runtime: Runtime, **fields: object) -> dict:
    report = await call(runtime, "workflow.review", {"path": "a.py"}, **fields)
    assert report.response.ok, report.response.error
    return dict(report.response.result)


async def refused(runtime: Runtime, payload: object = None, actor: Actor = ANN) -> tuple[str, str, str | None]:
    request = CallRequest("workflow.review", payload if payload is not None else {"path": "a.py"}, actor)
    error = (await runtime.call(request)).response.error
    assert error is not None
    return error.kind.value, error.message, error.details.get("reason")


async def test_a_skill_answers_with_its_text_and_says_which_version_of_it(start: Start, ground: Path) -> None:
    runtime = await start()
    found = await answered(runtime)
    digest = found.pop("digest")
    assert found == {
        "skill": "review",
        "version": "2.0.0",
        "description": "Reviews.",
        "location": SKILL,
        "allowed_tools": ["Read", "Grep"],
        "instructions": "Look closely.\n",
        "payload": {"path": "a.py"},
    }
    record = [one for one in runtime.audit.tail(100) if one["capability_id"] == "reviewer" and one["request_id"]][-1]
    assert (record["capability_id"], record["host_calls"][0]["fn"]) == ("reviewer", "adapter.skill")
    assert record["host_calls"][0]["target"] == "review"
    save(ground, SKILL, TEXT.format("", "again"))
    await runtime.skills.look()
    again = await answered(runtime)
    assert again["instructions"] == "Look again.\n"
    assert again["digest"] != digest


async def test_both_ways_are_held_to_their_schemas(start: Start, ground: Path) -> None:
    runtime = await start()
    assert (await refused(runtime, {}))[0] == "InvalidInput"
    save(ground, SKILL, TEXT.format("", "at everything that there is, and then once more"))
    await runtime.skills.look()
    kind, message, _ = await refused(runtime)
    assert (kind, "does not fit its output schema" in message) == ("InvalidOutput", True)


@pytest.mark.parametrize(
    ("adapter", "policy", "eva", "code", "word", "kind"),
    [
        (ADAPTER, "", "", "EVA-819 error", "shown", "NotFound"),
        (ADAPTER, "skills: {require_schema: false}\n", "", "EVA-819 warning", "shown", "NotFound"),
        (ADAPTER.replace("[workflow.review]", "[]"), "", "", "EVA-819 error", "shown", "NotFound"),
        (ADAPTER + SCHEMAS, "skills: {allow_kinds: [lua_skill]}\n", "", "EVA-817 error", "denied", "NotFound"),
        (ADAPTER + SCHEMAS, "", "runtime: {mode: team}\n", "EVA-818 error", "denied", "NotFound"),
    ],
)
async def test_without_schemas_policy_or_gate_it_is_shown_and_never_called(
    start: Start, ground: Path, adapter: str, policy: str, eva: str, code: str, word: str, kind: str
) -> None:
    write(ground, {"capabilities/adapters/review.yaml": adapter, "eva.yaml": f"version: 1\n{eva}"})
    write(ground, {POLICY: f"version: 1\n{policy}"})
    runtime = await start()
    assert (await refused(runtime))[0] == kind
    (found,) = runtime.problems
    assert f"{found.code} {found.level}" == code
    (row,) = runtime.providers.declared
    assert runtime.providers.standing(row)[0] == word


async def test_what_cannot_be_used_does_not_answer(start: Start, ground: Path) -> None:
    runtime = await start()
    for front, body, kind, reason, said in (
        ("requires_bins: no-such-program\n", "closely", "Unavailable", "missing", "lacks no-such-program"),
        ("kind: runtime_worker\n", "closely", "PolicyDenied", "runtime_worker", "never called"),
    ):
        save(ground, SKILL, TEXT.format(front, body))
        await runtime.skills.look()
        found = await refused(runtime)
        assert (found[0], found[2], said in found[1]) == (kind, reason, True), found
        assert runtime.providers.serving["reviewer"].state.word == "down"
    (ground / SKILL).unlink()
    await runtime.skills.look()
    assert (await refused(runtime))[1] == "there is no skill review"
    save(ground, SKILL, "no front matter")
    await runtime.skills.look()
    assert (await refused(runtime))[1].startswith("the skill review is refused: there is no front matter")


async def test_a_broken_version_takes_nothing_from_the_one_before(start: Start, ground: Path) -> None:
    runtime = await start()
    good = await answered(runtime)
    save(ground, SKILL, TEXT.format("requires_env: [\n", "hardly"))
    known = await runtime.skills.look()
    assert await answered(runtime) == good
    listed = known.named("review")
    assert listed is not None
    assert (listed.copy.stale, [one.code for one in listed.diagnostics]) == (True, ["EVA-820"])
    assert [one.path for one in known.refused] == [SKILL]
    save(ground, SKILL, TEXT.format("", "again"))
    known = await runtime.skills.look()
    assert (await answered(runtime))["instructions"] == "Look again.\n"
    assert (known.refused, known.named("review").copy.stale) == ((), False)


async def test_a_team_runs_what_its_gate_lets_it_and_its_workers_only_where_that_says_so(
    start: Start, ground: Path
) -> None:
    worker = Actor(CallerType.SUBAGENT, "w-1")
    gate = "runtime_gate: {allowed_modes: [team], disallow_team_worker: %s}\n"
    write(ground, {**lua_skill("open", gate % "false"), **lua_skill("shut", gate % "true")})
    save(ground, "capabilities/adapters/review.yaml", ADAPTER + SCHEMAS + gate % "true")
    write(ground, {"eva.yaml": "version: 1\nruntime: {mode: team}\n"})
    runtime = await start()
    assert (await answered(runtime))["skill"] == "review"
    assert (await refused(runtime, actor=worker))[::2] == ("PolicyDenied", "runtime_gate_mismatch")
    for name, ok in (("test.open", True), ("test.shut", False)):
        for actor, let in ((ANN, True), (worker, ok)):
            response = (await runtime.call(replace(CallRequest(name, {}, actor)))).response
            assert response.ok is let, (name, actor, response.error)
    assert response.error.details["reason"] == "runtime_gate_mismatch"


async def test_a_policy_that_allows_no_lua_skills_ends_those_that_serve(start: Start, ground: Path) -> None:
    write(ground, lua_skill("later", "runtime_gate: {allowed_modes: [normal]}\n"))
    runtime = await start()
    assert (await call(runtime, "test.later", {})).response.ok
    save(ground, POLICY, "version: 1\nskills: {allow_kinds: [workflow_skill]}\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    error = (await call(runtime, "test.later", {})).response.error
    assert error is not None
    assert (error.kind.value, error.details["reason"]) == ("Unavailable", "policy_denied")
    (found,) = [one for one in runtime.registry.capabilities["later"].rejection.diagnostics if one.code == "EVA-413"]
    assert found.message == "the policy denies the kind lua_skill"
    assert json.dumps(found.to_json())


WRITES = """
function invoke(ctx, request)
  ctx.host.fs_write_text{path = "out/a.txt", text = "a"}
  local ok = pcall(ctx.host.fs_write_text, {path = "capabilities/x.yaml", text = "x"})
  return {ok = true, result = ok}
end
"""


async def test_a_lua_skill_that_writes_is_on_record_with_the_paths_it_touched(start: Start, ground: Path) -> None:
    gate = "runtime_gate: {allowed_modes: [normal]}\nside_effects: idempotent\n"
    files = lua_skill("writer", gate + "permissions: {fs: {write: [workspace]}}\n")
    files["capabilities/tools/writer.lua"] = WRITES
    grant = "version: 1\ngrants: [{match: {kinds: [lua_skill]}, fs: {write: [workspace]}}]\n"
    write(ground, {**files, POLICY: grant, "out/b.txt": ""})
    runtime = await start()
    report = await call(runtime, "test.writer", {})
    response = report.response
    assert (response.ok, response.result) == (True, False), response.error
    intent, final = [one for one in runtime.audit.tail(100) if one["request_id"] == report.request_id]
    touched = [(one["fn"], one["target"], one["outcome"]) for one in final["host_calls"]]
    assert touched == [
        ("fs_write_text", "workspace:out/a.txt", "ok"),
        ("fs_write_text", "workspace:capabilities/x.yaml", "PolicyDenied"),
    ]
    assert (intent["outcome"], intent["host_calls"][0]["target"]) == ("intent", "workspace:out/a.txt")
    before = final["generation"]
    changed = WRITES.replace('text = "a"', 'text = "b"')
    save(ground, "capabilities/tools/writer.lua", changed)
    await runtime.reloader.run(actor=ANN, explicit=True)
    after = await call(runtime, "test.writer", {})
    assert after.generation != before
    assert (ground / "out/a.txt").read_text() == "b"
