"""How answers read: plain and aligned in a pipe, steered by nobody."""

from __future__ import annotations

from typing import Any

import pytest

from evatui.cli.show import state_words
from evatui.kernel.model.lifecycle import State
from tests.cli.fake import CALLED, CAPABILITIES, Eva, plan


def test_the_list_shows_state_generation_and_what_is_wrong_on_disk(eva: Eva) -> None:
    said = eva("capability", "list", capability__list=CAPABILITIES)
    head, row = said.out.splitlines()
    assert head.split() == ["STATE", "ID", "GENERATION", "PROVIDES", "IN", "FLIGHT", "DISK", "REASON"]
    assert row.split()[:5] == ["●", "Active", "topic-normalize", "g3", "1.0.0"]
    assert row.split()[5:] == ["topic.normalize", "2", "✗", "refused"]
    assert head.index("ID") == row.index("topic-normalize")
    assert "\x1b" not in said.out


def test_an_empty_workspace_says_so(eva: Eva) -> None:
    assert (
        eva("capability", "list", capability__list={"capabilities": []}).out == "This workspace has no capabilities.\n"
    )


def test_a_manifest_without_an_id_is_listed_by_its_path(eva: Eva) -> None:
    nameless: dict[str, Any] = dict.fromkeys(CAPABILITIES["capabilities"][0])
    row = nameless | {"state": "Rejected", "path": "capabilities/x.yaml", "reason": "yaml_invalid"}
    said = eva("capability", "list", capability__list={"capabilities": [row]})
    assert said.out.splitlines()[1].split() == ["✗", "Rejected", "capabilities/x.yaml", "0", "yaml_invalid"]


def test_every_state_has_a_glyph_of_its_own() -> None:
    assert len({state_words(state).plain[0] for state in State}) == len(State)


def test_a_call_prints_the_result_alone_on_stdout(eva: Eva) -> None:
    said = eva("capability", "call", "x", capability__call=CALLED)
    assert said.out == '{\n  "topic": "größe"\n}\n'
    assert "req_1" in said.err


def test_a_long_line_is_not_wrapped_in_a_pipe(eva: Eva) -> None:
    record: dict[str, Any] = {"seq": 1, "at": "t", "code": "c" * 300, "outcome": "ok", "actor": {"type": "cli"}}
    said = eva("audit", "tail", audit__tail={"records": [record]})
    assert len(said.out.splitlines()) == 2


def rejection(rendered: str) -> dict[str, Any]:
    diagnostic = {"code": "EVA-204", "message": "unknown key", "rendered": rendered}
    entry = {"id": "x", "path": "capabilities/x.yaml", "digest": "d", "at": "t", "serving": "x@1", "diagnostics": []}
    return {"rejections": [entry | {"diagnostics": [diagnostic]}]}


def test_a_refusal_is_printed_as_rendered_and_names_what_still_serves(eva: Eva) -> None:
    rendered = "EVA-204: unknown key\n  --> capabilities/x.yaml:3:1\n   | ^^^"
    said = eva("capability", "explain-rejected", capability__explain_rejected=rejection(rendered))
    assert said.code == 0
    assert rendered in said.out
    assert "x@1 still serves" in said.out


def test_a_refusal_of_earlier_says_so_and_shows_what_differed(eva: Eva) -> None:
    told = rejection("EVA-204: unknown key")
    difference = {"against": "g3", "difference": [], "diff": "--- a.yaml\n+++ a.yaml\n@@ -1 +1 @@\n-id: x\n+id: y"}
    told["rejections"][0] |= {"in_force": False, **difference}
    said = eva("capability", "explain-rejected", "x", capability__explain_rejected=told)
    assert "no longer in force; x@1 serves now" in said.out
    assert "what differs from g3, which served then:" in said.out
    assert "  -id: x\n  +id: y\n" in said.out
    earlier = {"id": "x", "path": "a.yaml", "digest": "d" * 64, "at": "t", "summary": "EVA-204 unknown key"}
    said = eva("capability", "explain-rejected", capability__explain_rejected={"rejections": [], "earlier": [earlier]})
    assert said.out.startswith("Nothing is refused.\nRefused earlier")
    assert f"t  x  {'d' * 12}  EVA-204 unknown key" in said.out


def inspected(word: str = "x", taken: bool = False) -> dict[str, Any]:
    """What the runtime tells of one capability, with ``word`` wherever outside text may stand."""
    by = {"layer": "workspace", "place": f"{word}:4"}
    asked = {
        "permission": "network.hosts",
        "entry": word,
        "in_force": [],
        "taken_by": None,
        "why": f"granted by {word}:4",
    }
    change = {"path": "network.hosts", "change": "widened", "from": [], "to": [word], "gained": [word], "lost": []}
    limit = {"limit": "timeout_ms", "value": 30_000, "in_force": 20_000, "ceiling": 20_000, "place": f"{word}:9"}
    return {
        "id": word, "state": "Active", "marks": [word], "kind": "lua_tool", "priority": 50, "generation": f"{word}@1",
        "capabilities": [word], "reason": word, "path": word, "in_flight": 2, "manifest": {"description": word},
        "on_disk": {"status": "held"}, "isolation": {"in_force": "in_process", "why": word},
        "counters": {"calls": 7, "errors": 1, "queued": 0},
        "permissions": {
            "explained": {
                "permissions": [asked | ({"taken_by": by, "why": f"denied: {word}:4"} if taken else {})],
                "names": [], "limits": [limit], "audit": [],
            },
        },
        "held": {
            "waits_for": "approval", "since": "t", "digest": "d1", "permissions": [change],
            "diagnostics": [{"code": "EVA-430", "message": word, "rendered": word}],
        },
        "generations": [
            {"number": "g1", "version": word, "state": "Active", "since": "t", "digest": "d" * 64, "restorable": False}
        ],
        "digests": {word: "e" * 64},
        "canary": {
            "number": "g2", "phase": "paused", "verdict": "inconclusive", "takes": word, "seconds_left": 61.4,
            "on_insufficient_data": "hold",
            "canary": {"faults": 1, "samples": 20}, "baseline": {"faults": 0, "samples": 9},
        },
    }  # fmt: skip


def test_inspect_says_of_each_permission_which_grant_gave_it_or_which_rule_took_it(eva: Eva) -> None:
    given = eva("capability", "inspect", "x", capability__inspect=inspected("p.yaml")).out
    assert "✓  network.hosts  p.yaml  granted by p.yaml:4" in given
    assert "timeout_ms  30000  20000     20000    p.yaml:9" in given
    assert "+ widened  network.hosts  –       p.yaml" in given
    assert "◌ waits for approval since t" in given
    counts = "inconclusive, 1 of 20 failed, 0 of 9 failed beside it; paused, 61 s left, then hold"
    assert f"canary    g2 takes p.yaml: {counts}" in given
    taken = eva("capability", "inspect", "x", capability__inspect=inspected("p.yaml", taken=True)).out
    assert "✗  network.hosts  p.yaml  denied: p.yaml:4" in taken


@pytest.mark.parametrize("evil", ["\x1b]0;owned\x07", "\x9b31m", "\u202eexe", "\r\n"])
def test_outside_text_cannot_steer_the_terminal(eva: Eva, evil: str) -> None:
    row = CAPABILITIES["capabilities"][0] | {"reason": evil, "state": evil, "marks": [evil]}
    result = CALLED | {"response": {"ok": True, "result": {evil: evil}, "meta": None, "error": None}}
    for said in (
        eva("capability", "list", capability__list={"capabilities": [row]}),
        eva("capability", "inspect", "x", capability__inspect=inspected(evil)),
        eva("capability", "explain-rejected", capability__explain_rejected=rejection(evil)),
        eva("capability", "call", "x", capability__call=result),
        eva(
            "status",
            status={
                evil: {evil: [evil]},
                "runtime": {"mode": evil},
                "counts": {evil: 1},
                "watch": {"ok": False, "word": evil},
            },
        ),
    ):
        assert said.code == 0
        for raw in ("\x1b", "\x07", "\x9b", "\u202e", "\r"):
            assert raw not in said.out + said.err


def test_square_brackets_are_text_and_no_markup(eva: Eva) -> None:
    assert "[red]x[/red]" in eva("capability", "inspect", "x", capability__inspect=inspected("[red]x[/red]")).out


def test_the_outline_nests_by_indentation(eva: Eva) -> None:
    data = {"id": "x", "permissions": {"fs": {"read": ["workspace"], "write": []}, "network": False}, "none": None}
    assert eva("status", status=data).out.splitlines()[-7:] == [
        "id: x",
        "permissions:",
        "  fs:",
        "    read: workspace",
        "    write: –",
        "  network: no",
        "none: –",
    ]


def test_what_is_not_well_is_told_with_its_cause_and_since_when(eva: Eva) -> None:
    data = {"audit": {"ok": False, "word": "unavailable", "detail": "no space left", "since": "12:00"}}
    assert "audit: ✗ unavailable no space left, since 12:00" in eva("status", status=data).out


def test_a_plan_counts_and_names_its_digest(eva: Eva) -> None:
    said = eva("capability", "reload", "--dry-run", capability__plan=plan("update", "unchanged", "unchanged"))
    assert "~ update  c0" in said.out
    assert "nothing was switched: 1 update, 2 unchanged" in said.out
    assert "plan d1" in said.out


def test_a_list_beside_a_folder_that_cannot_be_searched_says_so(eva: Eva) -> None:
    problem = {"code": "EVA-116", "message": "capabilities cannot be searched: permission denied"}
    said = eva("capability", "list", capability__list={"capabilities": [], "problems": [problem]})
    assert said.out == "✗ EVA-116 capabilities cannot be searched: permission denied\n"


def test_a_reason_points_on_to_its_codes(eva: Eva) -> None:
    said = eva("explain", "policy_denied")
    assert said.code == 2
    assert "EVA-410  the manifest asks for more than the policy grants" in said.err
    assert "eva explain EVA-4" in said.err
    assert "there is no code no_such" in eva("explain", "no_such").err
