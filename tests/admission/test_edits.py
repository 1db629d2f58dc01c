"""Repairs that need no thought can be applied by a program, and then the fault is gone."""

from __future__ import annotations

import pytest

from evatui.kernel.model.diagnostic import Edit
from evatui.kernel.workspace.layout import Layout
from tests.admission.harness import MANIFEST, NOTES, edited, judge, only, refused


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
    ],
)
def test_an_edit_repairs_what_it_is_for(layout: Layout, right: str, wrong: str) -> None:
    files = edited(manifest=(right, wrong))
    found = [found for found in refused(judge(files, layout)).diagnostics if found.edits]
    (edit,) = found[0].edits
    assert edit.span.file == MANIFEST
    after = judge({**files, MANIFEST: applied(files[MANIFEST], edit)}, layout)
    assert (found[0].code, found[0].message) not in [(d.code, d.message) for d in getattr(after, "diagnostics", ())]


def test_where_the_right_key_is_there_too_nothing_is_edited(layout: Layout) -> None:
    assert only(judge(edited(manifest=("priority: 60", "priority: 60\npriorty: 70")), layout)).edits == ()


def test_an_edit_is_in_the_json(layout: Layout) -> None:
    found = only(judge(edited(manifest=("priority: 60", "priorty: 60")), layout)).to_json()
    line = NOTES[MANIFEST].split("\n").index("priority: 60") + 1
    place = {"file": MANIFEST, "line": line, "column": 1, "end_line": line, "end_column": 8}
    assert found["edits"] == [{**place, "replacement": "priority"}]
