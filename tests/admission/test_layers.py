"""The operator's own policy beside the workspace's: in force is what both allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.admission.admit import admit
from evatui.kernel.admission.explained import explained
from evatui.kernel.admission.policy import PolicyResult, load_policy
from evatui.kernel.admission.verdict import Verdict
from evatui.kernel.model.manifest import AuditLevel, TrustSource
from evatui.kernel.model.permissions import ALL
from evatui.kernel.workspace.files import FileProblem
from evatui.kernel.workspace.home import OPERATOR_FILE, OperatorHome
from evatui.kernel.workspace.layout import Layout
from tests.admission.harness import MANIFEST, NOTES, POLICY, accepted, line_of, refused, snapshot, source
from tests.support.workspaces import EVERYTHING


def layered(operator: str | None, workspace: str = NOTES[POLICY], previous: Any = None) -> PolicyResult:
    own = source(OPERATOR_FILE, operator) if operator is not None else None
    return load_policy([source(POLICY, workspace)], previous, own)


def verdict_of(layout: Layout, result: PolicyResult) -> Verdict:
    return admit(snapshot(NOTES), layout=layout, policy=result.policy, policy_diagnostics=result.diagnostics)


def test_an_operator_who_grants_everything_takes_nothing(layout: Layout) -> None:
    candidate = accepted(verdict_of(layout, layered(EVERYTHING)))
    assert candidate.permissions == accepted(verdict_of(layout, layered(None))).permissions


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('fs: {read: "*"', "fs: {read: [workspace/public]", "- workspace/docs", '"workspace/public" here'),
        ('network: {hosts: "*"}', "network: {hosts: []}", "hosts:", "the operator's policy grants nothing here"),
        ("[[git]]", "[[git, log]]", "shell:", '"git log" here'),
        ('ids: ["*"]', 'ids: ["x-*"], kinds: ["*"]', "- workspace/docs", "grants nothing"),
        ("version: 1\n", "version: 1\nceilings: {timeout_ms: 500}\n", "timeout_ms: 2000", "operator's ceiling is 500"),
        ("version: 1\n", "version: 1\nceilings: {priority: 5}\n", "priority: 60", "operator's ceiling is 5"),
        (
            "version: 1\n",
            "version: 1\ndeny: {ids: [team-notes]}\n",
            "id: team-notes",
            "operator's policy denies the id",
        ),
        ("    env:", "    names: [other.*]\n    env:", "- notes.count", "operator's policy does not let"),
    ],
)
def test_what_the_operator_does_not_give_is_refused_at_the_line_that_asks(
    layout: Layout, old: str, new: str, line: str, words: str
) -> None:
    assert old in EVERYTHING
    found = refused(verdict_of(layout, layered(EVERYTHING.replace(old, new)))).diagnostics
    (told,) = [d for d in found if d.primary and d.primary.line == line_of(NOTES, MANIFEST, line)]
    assert words in told.message
    assert told.reason == "policy_denied"


def test_an_operators_policy_without_grants_grants_nothing(layout: Layout) -> None:
    messages = [d.message for d in refused(verdict_of(layout, layered("version: 1\n"))).diagnostics]
    assert messages
    assert all("operator's policy grants nothing here" in message for message in messages)


def test_the_operator_cannot_grant_what_the_workspace_does_not(layout: Layout) -> None:
    found = refused(verdict_of(layout, layered(EVERYTHING, "version: 1\n"))).diagnostics
    assert all("the policy grants nothing here" in d.message for d in found)


def test_each_setting_is_the_one_that_both_allow() -> None:
    mine = """\
version: 1
ceilings: {timeout_ms: 1000}
trusted_sources: [project, user]
deny: {ids: [a], capabilities: ["x.*"]}
audit: {log_input: metadata_only}
approvals: {widening: console}
credentials: {KEY: {from: env, hosts: [a.example.org, b.example.org], header: X-Key}}
mcp_server: {tools: {allow: ["t.*"]}}
"""
    theirs = """\
version: 1
ceilings: {timeout_ms: 900000, concurrency: 2}
trusted_sources: [user, third_party]
deny: {ids: [b]}
audit: {log_output: none}
approvals: {widening: operator}
isolation: {require_os_sandbox: false}
credentials: {KEY: {from: env, hosts: [b.example.org, c.example.org]}, OTHER: {from: env}}
mcp_server: {tools: {allow: [t.one, u.two]}}
"""
    policy = layered(mine, theirs).policy
    assert (policy.ceilings["timeout_ms"], policy.ceilings["concurrency"]) == (1000, 2)
    assert policy.trusted_sources == (TrustSource.USER,)
    assert (policy.deny.ids, policy.deny.capabilities) == (("a", "b"), ("x.*",))
    assert (policy.audit.log_input, policy.audit.log_output) == (AuditLevel.METADATA_ONLY, AuditLevel.NONE)
    assert policy.settings["approvals"]["widening"] == "console"
    assert policy.require_os_sandbox
    assert policy.credentials["KEY"]["hosts"] == ["b.example.org"]
    assert policy.credentials["KEY"]["header"] == "X-Key"
    assert "OTHER" in policy.credentials
    assert policy.settings["mcp_server"]["tools"]["allow"] == ["t.one"]


def test_a_default_of_the_operators_policy_is_a_limit_too() -> None:
    assert (
        layered("version: 1\n", "version: 1\nceilings: {timeout_ms: 900000}\n").policy.ceilings["timeout_ms"] == 120_000
    )
    assert layered(None, "version: 1\nceilings: {timeout_ms: 900000}\n").policy.ceilings["timeout_ms"] == 900_000


def test_a_broken_operators_policy_keeps_the_last_valid_one_and_names_no_path(layout: Layout, tmp_path: Path) -> None:
    first = layered(EVERYTHING)
    broken = layered("versoin: 1\n", previous=first.policy)
    assert broken.policy is first.policy
    assert [d.primary.file for d in broken.diagnostics if d.primary] == [OPERATOR_FILE]
    assert OPERATOR_FILE in broken.diagnostics[0].rendered
    accepted(verdict_of(layout, broken))
    fresh = layered("versoin: 1\n")
    assert not fresh.policy.valid
    messages = [d.message for d in refused(verdict_of(layout, fresh)).diagnostics]
    assert any("operator's policy grants nothing" in message for message in messages)


def test_the_operators_file_is_read_by_whatever_it_is(tmp_path: Path) -> None:
    home = OperatorHome(tmp_path / "config")
    assert home.read_policy(100) is None
    assert home.policy_signature() is None
    home.folder.mkdir()
    (home.folder / "policy.yaml").mkdir()
    problem = home.read_policy(100)
    assert isinstance(problem, FileProblem)
    assert str(tmp_path) not in str(problem)
    (home.folder / "policy.yaml").rmdir()
    (home.folder / "policy.yaml").write_text("version: 1\n")
    assert isinstance(home.read_policy(5), FileProblem)
    file = home.read_policy(100)
    assert file is not None
    assert not isinstance(file, FileProblem)
    assert (file.path, file.data) == (OPERATOR_FILE, b"version: 1\n")


def test_each_permission_says_which_grant_gave_it_or_which_rule_took_it(layout: Layout) -> None:
    manifest = accepted(verdict_of(layout, layered(EVERYTHING))).manifest
    narrowed = EVERYTHING.replace('read: "*"', "read: [workspace/docs/public]").replace('env: "*"', "env: []")
    policy = layered(narrowed + "deny: {capabilities: [repo.file.read]}\nceilings: {timeout_ms: 1500}\n").policy
    told = explained(manifest, policy)
    rows = {row["permission"]: row for row in told["permissions"]}
    grant, own = f"{POLICY}:3", f"{OPERATOR_FILE}:3"
    assert rows["network.hosts"]["given_by"] == [
        {"layer": "operator", "place": own},
        {"layer": "workspace", "place": grant},
    ]
    assert (rows["network.hosts"]["taken_by"], rows["network.hosts"]["in_force"]) == (None, ["api.example.org"])
    assert rows["fs.read"]["in_force"] == ["workspace/docs/public"]
    assert rows["fs.read"]["taken_by"] == {"rule": "absent", "layer": "operator", "place": own}
    assert rows["env"] == {
        "permission": "env",
        "entry": "NOTES_KEY",
        "in_force": [],
        "given_by": [{"layer": "workspace", "place": grant}],
        "taken_by": {"rule": "absent", "layer": "operator", "place": own},
        "why": f"not granted: {own} (operator)",
    }
    assert rows["fs.read"]["why"].startswith("only workspace/docs/public; the rest is not granted")
    assert rows["network.hosts"]["why"] == f"granted by {own} (operator), {grant}"
    assert rows["adapters.capabilities"]["taken_by"] == {
        "rule": "deny",
        "layer": "operator",
        "place": f"{OPERATOR_FILE}:10",
    }
    limits = {row["limit"]: row for row in told["limits"]}
    assert limits["timeout_ms"] == {
        "limit": "timeout_ms",
        "value": 2000,
        "in_force": 1500,
        "ceiling": 1500,
        "layer": "operator",
        "place": f"{OPERATOR_FILE}:11",
    }
    assert limits["priority"]["place"] == "default"
    assert [row["given_by"][1]["place"] for row in told["names"]] == [grant, grant]
    assert policy.effective(manifest).events.emit == ("/notes/**",)
    assert ALL not in policy.effective(manifest).fs.read


def test_a_denied_id_says_so_for_every_entry(layout: Layout) -> None:
    manifest = accepted(verdict_of(layout, layered(None))).manifest
    told = explained(manifest, layered(None, NOTES[POLICY] + 'deny: {ids: ["team-*"]}\n').policy)
    place = f"{POLICY}:11"
    assert {row["taken_by"]["place"] for row in (*told["permissions"], *told["names"])} == {place}
    assert all(row["in_force"] == [] for row in told["permissions"])
