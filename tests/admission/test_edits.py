"""Repairs that need no thought can be applied by a program, and then the fault is gone."""

from __future__ import annotations

import pytest

from evatui.kernel.model.diagnostic import Edit
from evatui.kernel.workspace.layout import Layout
from tests.admission.harness import MANIFEST, NOTES, POLICY, accepted, edited, judge, only, refused

NETWORK = NOTES[MANIFEST][NOTES[MANIFEST].index("  network:") : NOTES[MANIFEST].index("  shell:")].rstrip("\n")


def applied(text: str, edit: Edit) -> str:
    lines = text.split("\n")
    span = edit.span
    assert span.end_line == span.line
    line = lines[span.line - 1]
    assert span.end_column is not None
    lines[span.line - 1] = line[: span.column - 1] + edit.replacement + line[span.end_column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("priority: 60", "priorty: 60"),
        ("timeout_ms: 2000", "'timout_ms': 2000"),
        ("name: Team notes", "name: 012"),
        ("name: Team notes", "name: true"),
        ("enabled: true", "enabled: yes"),
        ("enabled: true", 'enabled: "true"'),
        ("priority: 60", 'priority: "60"'),
        ("isolation: auto", "isolation: atuo"),
        ("isolation: auto", 'isolation: "in-process"'),
        ("emit: [/notes/**]", "emit: /notes/**"),
        ("version: 2.3.1-beta.1", "verison: 2.3.1-beta.1"),
        ("version: 2.3.1-beta.1", "version: 1.10"),
        ("version: 2.3.1-beta.1", "version: 2"),
        (NETWORK, '  network: "no"'),
        (NETWORK, "  network: off"),
        ("timeout_ms: 2000", "timeout_ms: 900000"),
        ("script: capabilities/tools/notes.lua", "script: capabilities\\tools\\notes.lua"),
    ],
)
def test_an_edit_repairs_what_it_is_for(layout: Layout, right: str, wrong: str) -> None:
    files = edited(manifest=(right, wrong))
    found = [found for found in refused(judge(files, layout)).diagnostics if found.edits]
    (edit,) = found[0].edits
    assert edit.span.file == MANIFEST
    after = judge({**files, MANIFEST: applied(files[MANIFEST], edit)}, layout)
    assert edit.span.line not in [span.line for d in getattr(after, "diagnostics", ()) for span in d.spans]


@pytest.mark.parametrize(
    ("right", "wrong", "fix"),
    [
        (NETWORK, '  network: "yes"', "network: {hosts: [api.example.org]}"),
        (NETWORK, "  network: [example.org]", "network: {hosts: [api.example.org]}"),
        ("entry: find", "entry: 5", "Write the name of a Lua function"),
        ("- workspace/docs", "- /etc", "a root of eva.yaml"),
        ("capabilities/tools/notes.lua", "/srv/notes.lua", "from the workspace folder on"),
    ],
)
def test_where_only_a_person_can_tell_the_fix_leads_on(layout: Layout, right: str, wrong: str, fix: str) -> None:
    found = only(judge(edited(manifest=(right, wrong)), layout))
    assert found.edits == ()
    assert fix in found.fix


def test_where_the_right_key_is_there_too_nothing_is_edited(layout: Layout) -> None:
    assert only(judge(edited(manifest=("priority: 60", "priority: 60\npriorty: 70")), layout)).edits == ()


def test_an_edit_is_in_the_json(layout: Layout) -> None:
    found = only(judge(edited(manifest=("priority: 60", "priorty: 60")), layout)).to_json()
    line = NOTES[MANIFEST].split("\n").index("priority: 60") + 1
    place = {"file": MANIFEST, "line": line, "column": 1, "end_line": line, "end_column": 8}
    assert found["edits"] == [{**place, "replacement": "priority"}]


def test_a_value_that_goes_over_several_lines_is_left_to_a_person(layout: Layout) -> None:
    """Here a dash was meant to start an item."""
    files = edited(manifest=("read:\n      - workspace/docs", "read: all\n      - workspace/docs"))
    assert only(judge(files, layout)).edits == ()


@pytest.mark.parametrize(
    ("asked", "more"),
    [
        ("emit: [/notes/**]", "emit: [/other/*]"),
        ("env: [NOTES_KEY]", "env: [OTHER]"),
        ("[git, status, --short]", """[git, "a b", "c: d", "#x", "it's", "1", "no", "true", "]"]"""),
        ("hosts: [api.example.org]", "hosts: ['*.example.com']"),
        ("capabilities: [repo.file.read]", "capabilities: ['*']"),
        ("write: []", "write: ['*']"),
        ("id: team-notes", 'id: "12"'),
        ("id: team-notes", "id: 'true'"),
    ],
)
def test_the_grant_that_is_proposed_is_one_that_does_it(layout: Layout, asked: str, more: str) -> None:
    """Each of those that are missing, as it stands in the fix, added to the policy."""
    files = edited(manifest=(asked, more))
    found = refused(judge(files, layout)).diagnostics
    grants = [str(one.fix).partition("add to a policy file: ")[2] for one in found if one.code == "EVA-410"]
    assert grants == [grant for grant in grants if grant.startswith("- {")]
    granted = {**files, POLICY: files[POLICY] + "".join(f"  {grant}\n" for grant in grants)}
    accepted(judge(granted, layout))
