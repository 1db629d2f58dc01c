"""Who gets what: default deny, pooled files, and a refusal at the very line that asks for more."""

from __future__ import annotations

import pytest

from evatui.kernel.admission.policy import load_policy
from evatui.kernel.model.manifest import AuditLevel, TrustSource
from evatui.kernel.workspace.files import FileProblem, ProblemKind
from evatui.kernel.workspace.layout import Layout
from tests.admission.harness import (
    MANIFEST,
    NOTES,
    POLICY,
    accepted,
    edited,
    judge,
    line_of,
    only,
    policy_of,
    refused,
    source,
)

# what the policy no longer says, a text on the line of the manifest to blame, words of the message
LESS = [
    ('ids: ["team-*"]', 'ids: ["other-*"]', "- workspace/docs", '"workspace/docs", the policy grants nothing'),
    ('ids: ["team-*"]', "ids: []", "- workspace/docs", "grants nothing"),
    ("kinds: [lua_tool, lua_skill]", "kinds: [lua_skill]", "- workspace/docs", "grants nothing"),
    ("sources: [project]", "sources: [user]", "- workspace/docs", "grants nothing"),
    ("read: [workspace]", "read: [workspace/docs/public]", "- workspace/docs", '"workspace/docs/public" here'),
    ("read: [workspace]", "read: [work]", "- workspace/docs", '"work" here'),
    ("read: [workspace]", "read: []", "- workspace/docs", "grants nothing here"),
    ('hosts: ["*.example.org"]', 'hosts: ["example.org"]', "hosts:", '"api.example.org"'),
    ("commands: [[git, status]]", "commands: [[git, log]]", "shell:", '"git status --short"'),
    ("commands: [[git, status]]", "commands: [[git, status, --short, .]]", "shell:", '"git status --short"'),
    ("env: [NOTES_KEY]", "env: [OTHER]", "env:", '"NOTES_KEY"'),
    ('capabilities: ["repo.file.*"]', 'capabilities: ["repo.dir.*"]', "capabilities: [repo", '"repo.file.read"'),
    ('providers: ["*"]', "providers: []", "providers:", '"files"'),
    ('emit: ["/notes/**"]', 'emit: ["/notes/*"]', "emit:", '"/notes/**"'),
    ('names: ["notes.*"]', 'names: ["notes.find"]', "- notes.count", "provide notes.count"),
    ("version: 1\n", "version: 1\nceilings: {timeout_ms: 1999}\n", "timeout_ms: 2000", "ceiling is 1999"),
    ("version: 1\n", "version: 1\nceilings: {memory_bytes: 1}\n", "memory_bytes", "ceiling is 1"),
    ("version: 1\n", "version: 1\nceilings: {concurrency: 2}\n", "concurrency", "ceiling is 2"),
    ("version: 1\n", "version: 1\nceilings: {max_input_bytes: 9}\n", "max_input_bytes", "ceiling is 9"),
    ("version: 1\n", "version: 1\nceilings: {max_output_bytes: 9}\n", "max_output_bytes", "ceiling is 9"),
    ("version: 1\n", "version: 1\nceilings: {priority: 59}\n", "priority", "priority is 60"),
    ("version: 1\n", "version: 1\ndeny: {ids: [team-notes]}\n", "id: team-notes", "denies the id"),
    ("version: 1\n", 'version: 1\ndeny: {ids: ["*-notes"]}\n', "id: team-notes", "denies the id"),
    ("version: 1\n", "version: 1\ndeny: {ids: [TEAM-Notes]}\n", "id: team-notes", "denies the id"),
    ("version: 1\n", 'version: 1\ndeny: {capabilities: ["Notes.C*"]}\n', "- notes.count", "denies the name"),
    ("version: 1\n", 'version: 1\ndeny: {capabilities: ["REPO.*"]}\n', "[repo.file.read]", "denies calls to"),
    ("version: 1\n", "version: 1\ndeny: {kinds: [lua_tool]}\n", "kind: lua_tool", "denies the kind"),
    ("version: 1\n", 'version: 1\ndeny: {capabilities: ["notes.c*"]}\n', "- notes.count", "denies the name"),
    ("version: 1\n", 'version: 1\ndeny: {capabilities: ["repo.*"]}\n', "[repo.file.read]", "denies calls to"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), LESS, ids=[case[1][:50].strip() for case in LESS])
def test_less_in_the_policy_is_a_refusal_at_the_line_that_asks(
    layout: Layout, old: str, new: str, line: str, words: str
) -> None:
    verdict = refused(judge(edited(policy=(old, new)), layout))
    assert verdict.manifest is not None
    assert {d.reason for d in verdict.diagnostics} == {"policy_denied"}
    assert all(d.code.startswith("EVA-4") for d in verdict.diagnostics)
    wanted = line_of(NOTES, MANIFEST, line)
    found = next(d for d in verdict.diagnostics if d.primary and d.primary.line == wanted)
    assert words in found.message
    assert found.primary is not None
    assert found.primary.file == MANIFEST


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("      - workspace/docs\n", "      - workspace\n      - '*'\n", "'*'", 'asks for "*"'),
        ("    write: []\n", "    write: [workspace/out/a, workspace]\n", "write:", 'asks for "workspace"'),
        ("    write: []\n", "    write: '*'\n", "write:", 'asks for "*"'),
        ("[repo.file.read]", "['*']", "'*'", 'asks for "*"'),
        ("[/notes/**]", "['*']", "'*'", 'asks for "*"'),
        ("[/notes/**]", "[/capability/loaded]", "/capability", "only the kernel emits"),
        ("isolation: auto", "isolation: in_process\n# was auto", "isolation: in_process", None),
    ],
)
def test_more_in_the_manifest_is_a_refusal_at_the_line_that_asks(
    layout: Layout, old: str, new: str, line: str, words: str | None
) -> None:
    files = edited(manifest=(old, new))
    if words is None:
        accepted(judge(files, layout))
        return
    found, *others = refused(judge(files, layout)).diagnostics
    assert words in found.message
    assert found.primary is not None
    assert found.primary.line == line_of(files, MANIFEST, line)
    assert found.primary.line not in {other.primary.line for other in others if other.primary}


def test_a_wrong_entry_does_not_move_the_blame_for_the_next_one(layout: Layout) -> None:
    files = edited(manifest=("      - workspace/docs\n", "      - /etc\n      - workspace/docs\n      - '*'\n"))
    found = {d.code: d.primary.line for d in refused(judge(files, layout)).diagnostics if d.primary}
    assert found == {"EVA-210": line_of(files, MANIFEST, "- /etc"), "EVA-410": line_of(files, MANIFEST, "- '*'")}


def test_a_root_that_the_workspace_does_not_have_is_told_and_not_also_refused_by_the_policy(layout: Layout) -> None:
    files = edited(manifest=("      - workspace/docs\n", "      - worspace/docs\n"))
    first = only(judge(files, layout))
    assert (first.code, first.reason) == ("EVA-207", "manifest_invalid")
    assert first.primary is not None
    assert (first.primary.line, first.primary.label) == (
        line_of(files, MANIFEST, "worspace"),
        "did you mean workspace?",
    )


def test_a_default_above_a_ceiling_is_told_as_such(layout: Layout) -> None:
    files = edited(manifest=("  memory_bytes: 8388608\n", ""), policy=("version: 1", "ceilings: {memory_bytes: 1000}"))
    found = only(judge(files, layout))
    assert "16777216 by default; the policy's ceiling is 1000" in found.message
    assert found.primary is not None
    assert found.primary.line == line_of(files, MANIFEST, "limits:")


def test_network_true_asks_for_every_host(layout: Layout) -> None:
    asks = ("  network:\n    hosts: [api.example.org]\n    methods: [GET, POST]\n", "  network: true\n")
    found = only(judge(edited(manifest=asks), layout))
    assert found.primary is not None
    assert found.primary.line == line_of(edited(manifest=asks), MANIFEST, "network: true")
    assert '"*"' in found.message
    files = edited(manifest=asks, policy=('hosts: ["*.example.org"]', 'hosts: ["*"]'))
    assert accepted(judge(files, layout)).permissions.network.hosts == ("*",)


def test_without_a_policy_a_capability_may_only_compute(layout: Layout) -> None:
    files = {path: text for path, text in NOTES.items() if path != POLICY}
    refused(judge(files, layout))
    text = files[MANIFEST]
    start, end = text.index("permissions:"), text.index("limits:")
    accepted(judge({**files, MANIFEST: text[:start] + text[end:]}, layout))


# a policy file, the line to blame, code
BROKEN = [
    ("version: 1\ngrant: []\n", 2, "EVA-402"),
    ("version: 1\nceilings: {timout_ms: 1}\n", 2, "EVA-402"),
    ("grants:\n  - match: {id: [a]}\n", 2, "EVA-402"),
    ("grants:\n  - match: {ids: [a]}\n    network: {hosts: [], methods: [GET]}\n", 3, "EVA-402"),
    ("hardware:\n  enabld: true\n", 2, "EVA-402"),
    ("version: 2\n", 1, "EVA-403"),
    ("grants:\n  - fs: {read: [workspace]}\n", 2, "EVA-403"),
    ("grants:\n  - match: {}\n", 2, "EVA-403"),
    ("grants:\n  - match: {ids: a}\n", 2, "EVA-403"),
    ("grants:\n  - match: {ids: [a]}\n    shell: true\n", 3, "EVA-403"),
    ("grants:\n  - match: {ids: [a]}\n    network: true\n", 3, "EVA-403"),
    ("trusted_sources: [me]\n", 1, "EVA-403"),
    ("ceilings:\n  timeout_ms: '5'\n", 2, "EVA-403"),
    ("credentials: {A: {hosts: [a.org]}}\n", 1, "EVA-403"),
    ("mcp_server:\n  principals:\n    bob: {token_sha256: abc, tools: []}\n", 3, "EVA-403"),
    ("", 1, "EVA-403"),
    ("- a\n", 1, "EVA-403"),
    ("version: [\n", 1, "EVA-401"),
    ("deny: {}\ndeny: {}\n", 2, "EVA-401"),
]


@pytest.mark.parametrize(("text", "line", "code"), BROKEN, ids=[case[0][:40] for case in BROKEN])
def test_a_broken_policy_grants_nothing_and_says_so_to_each_that_it_costs_a_grant(
    layout: Layout, text: str, line: int, code: str
) -> None:
    files = {**NOTES, POLICY: text}
    found = refused(judge(files, layout)).diagnostics[0]
    assert (found.code, found.reason) == (code, "policy_denied")
    assert found.primary is not None
    assert (found.primary.file, found.primary.line) == (POLICY, line)
    assert "= note: without a valid policy nothing is granted" in found.rendered
    modest = files[MANIFEST][: files[MANIFEST].index("permissions:")]
    accepted(judge({**files, MANIFEST: modest}, layout))


def test_one_broken_file_breaks_the_policy_and_the_last_valid_one_stays() -> None:
    good, more = source(POLICY, NOTES[POLICY]), "capabilities/policies/more.yaml"
    valid = load_policy([good], None).policy
    for broken in (source(more, "versoin: 1\n"), FileProblem(more, ProblemKind.UNREADABLE, "permission denied")):
        result = load_policy([good, broken], valid)
        assert result.policy is valid
        assert result.diagnostics[0].primary is not None
        assert result.diagnostics[0].primary.file == more
        assert more in result.diagnostics[0].rendered
    assert load_policy([broken], load_policy([broken], None).policy).policy.valid is False
    assert load_policy([], valid).policy.grants == ()


@pytest.mark.parametrize("broken", ["of another file", "in another section"])
def test_what_is_valid_of_it_denies_or_limits_where_no_policy_was_ever_valid(broken: str) -> None:
    strict = "version: 1\ndeny: {ids: [bad]}\nceilings: {timeout_ms: 1000, concurrency: 99}\ntrusted_sources: [user]\n"
    if broken == "of another file":
        more = [source("capabilities/policies/b.yaml", "version: [")]
    else:
        strict = strict.replace("ids: [bad]", "ids: [bad, 7], kind: [x]") + "audit: {log_input: loud}\nversoin: 1\n"
        more = []
    files = [source("capabilities/policies/strict.yaml", strict), *more]
    policy = load_policy(files, load_policy([], None).policy).policy
    assert (policy.valid, policy.grants) == (False, ())
    assert policy.deny.id("bad")
    assert (policy.settings["ceilings"]["timeout_ms"], policy.settings["ceilings"]["concurrency"]) == (1000, 16)
    assert policy.settings["trusted_sources"] == []
    (layer,) = policy.layers
    assert layer.deny_place("ids", "bad") == "capabilities/policies/strict.yaml:2"
    assert layer.place("ceilings.timeout_ms") == "capabilities/policies/strict.yaml:3"
    assert layer.place("ceilings.concurrency") == layer.place("audit.log_input") == "default"


def test_a_broken_policy_is_not_blamed_where_the_one_in_force_suffices(layout: Layout) -> None:
    from evatui.kernel.admission.admit import admit
    from tests.admission.harness import snapshot

    valid = policy_of(NOTES).policy
    result = load_policy([source(POLICY, "versoin: 1\n")], valid)
    verdict = admit(snapshot(NOTES), layout=layout, policy=result.policy, policy_diagnostics=result.diagnostics)
    accepted(verdict)


def test_grants_add_up_ceilings_take_the_minimum_and_deny_beats_grant(layout: Layout) -> None:
    files = edited(policy=("env: [NOTES_KEY]", "env: []"))
    refused(judge(files, layout))
    files["capabilities/policies/more.yaml"] = (
        "grants:\n  - match: {ids: [team-notes]}\n    env: [NOTES_KEY]\nceilings: {timeout_ms: 5000, priority: 70}\n"
        "hardware: {simulators: false}\naudit: {log_output: metadata_only}\n"
    )
    accepted(judge(files, layout))
    files["capabilities/policies/other.yaml"] = (
        "ceilings: {timeout_ms: 3000}\nhardware: {simulators: true, enabled: false}\ntrusted_sources: [project, user]\n"
        "approvals: {widening: never}\n"
    )
    policy = policy_of(files).policy
    assert (policy.ceilings["timeout_ms"], policy.ceilings["priority"], policy.ceilings["concurrency"]) == (
        3000,
        70,
        16,
    )
    assert (policy.settings["hardware"]["simulators"], policy.settings["hardware"]["enabled"]) == (False, False)
    assert policy.settings["approvals"]["widening"] == "never"
    assert policy.trusted_sources == (TrustSource.PROJECT, TrustSource.USER)
    assert policy.audit.log_output is AuditLevel.METADATA_ONLY
    manifest = accepted(judge(files, layout)).manifest
    assert policy.audit_levels(manifest).log_output is AuditLevel.METADATA_ONLY
    assert policy.audit_levels(manifest).log_input is AuditLevel.NONE
    files["capabilities/policies/zero.yaml"] = "deny: {ids: [team-notes]}\n"
    verdict = refused(judge(files, layout))
    assert verdict.diagnostics[0].code == "EVA-413"
    assert policy_of(files).policy.denies("team-notes", None)


def test_a_grant_may_say_that_it_grants_no_network_and_no_shell() -> None:
    text = "grants:\n  - {match: {ids: [a]}, network: false, shell: false}\n"
    result = policy_of({"capabilities/policies/a.yaml": text})
    assert not result.diagnostics
    assert result.policy.grants[0].permissions.network.hosts == ()


def test_two_files_may_not_give_a_credential_two_meanings() -> None:
    first = source("capabilities/policies/a.yaml", "credentials:\n  KEY: {from: env, hosts: [a.org]}\n")
    same = source("capabilities/policies/b.yaml", "credentials:\n  KEY: {from: env, hosts: [a.org]}\n")
    other = source("capabilities/policies/c.yaml", "credentials:\n  KEY: {from: env, hosts: [b.org]}\n")
    assert list(load_policy([first, same], None).policy.credentials) == ["KEY"]
    (found,) = load_policy([first, other], None).diagnostics
    assert found.code == "EVA-404"
    assert {span.file for span in found.spans} == {first.path, other.path}


def test_what_is_in_force_follows_the_policy_now(layout: Layout) -> None:
    manifest = accepted(judge(NOTES, layout)).manifest
    narrower = policy_of(edited(policy=("read: [workspace]", "read: [workspace/docs/public]"))).policy
    assert narrower.effective(manifest).fs.read == ("workspace/docs/public",)
    assert narrower.effective(manifest) is narrower.effective(manifest)
    denied = policy_of(edited(policy=("version: 1\n", "deny: {ids: [team-notes]}\n"))).policy
    assert denied.effective(manifest).to_json()["fs"] == {"read": [], "write": []}
    quiet = policy_of(edited(policy=("version: 1\n", "deny: {capabilities: [repo.file.read]}\n"))).policy
    assert quiet.effective(manifest).adapters.capabilities == ()
    assert quiet.effective(manifest).fs.read == ("workspace/docs",)


def test_no_other_spelling_of_a_name_that_is_denied_may_be_called(layout: Layout) -> None:
    asks = edited(
        manifest=("[repo.file.read]", '["*"]'),
        policy=('capabilities: ["repo.file.*"]', 'capabilities: ["*"]'),
    )
    manifest = accepted(judge(asks, layout)).manifest
    denied = {**asks, "capabilities/policies/z.yaml": "version: 1\ndeny: {capabilities: [Repo.File.*]}\n"}
    adapters = policy_of(denied).policy.effective(manifest).adapters
    assert [name for name in ("repo.file.read", "REPO.file.READ", "repo.list") if adapters.allow(name)] == ["repo.list"]


def test_a_grant_is_for_the_names_as_it_writes_them(layout: Layout) -> None:
    verdict = refused(judge(edited(policy=('names: ["notes.*"]', 'names: ["Notes.*"]')), layout))
    assert {found.code for found in verdict.diagnostics} == {"EVA-412"}


def test_each_permission_in_force_names_the_grant_that_gave_it(layout: Layout) -> None:
    policy = policy_of(NOTES).policy
    given = policy.sources(accepted(judge(NOTES, layout)).manifest)
    assert {"permission": "fs.read", "entry": "workspace/docs", "granted_by": [f"{POLICY}:3"]} in given


def test_names_are_free_unless_the_grants_list_them(layout: Layout) -> None:
    manifest = accepted(judge(NOTES, layout)).manifest
    listed = policy_of(NOTES).policy.granted(manifest)
    assert (listed.free_names, listed.names) == (False, ("notes.*",))
    assert policy_of({}).policy.granted(manifest).free_names
    assert policy_of(edited(policy=('    names: ["notes.*"]\n', ""))).policy.granted(manifest).free_names
