"""``eva skill``: what a person and a script get to see, in a workspace of ``eva init``."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from evatui.cli.main import run
from tests.cli.real import Eva
from tests.support.workspaces import write

BUNDLED = ["use-capabilities", "write-a-capability"]
REVIEW = "---\nname: review\ndescription: {}\n{}---\nLook \x1b[31mclosely.\n"


@pytest.fixture
def eva(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Eva:
    assert run(["init", str(tmp_path / "ws")]) == 0
    for manifest in (tmp_path / "ws/capabilities").glob("*.yaml"):
        manifest.unlink()
    capsys.readouterr()
    return Eva(tmp_path / "ws", capsys)


def test_the_samples_can_be_used_and_shadow_what_is_built_in(eva: Eva) -> None:
    data = eva.data("skill", "list")
    assert [row["name"] for row in data["skills"]] == BUNDLED
    for row in data["skills"]:
        assert (row["available"], row["missing"], row["diagnostics"]) == (True, [], [])
        assert row["layer"] == "capabilities/extensions/skills"
        assert row["shadows"] == [f"<builtin>/{row['name']}/SKILL.md"]
    assert data["rejected"] == []
    assert eva.data("skill", "doctor")["ok"]
    assert "all well: 2 of 2" in eva.text("skill", "doctor")[0]
    parts = eva.data("skill", "context")["parts"]
    assert [part["name"] for part in parts] == ["", "use-capabilities"]
    (root,) = [ElementTree.fromstring(eva.text("skill", "index")[0])]
    assert [skill.findtext("name") for skill in root] == BUNDLED


def test_layers_from_the_environment_are_searched(eva: Eva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, folder in (("EVA_DATA_DIR", "data"), ("EVA_PARENT_PROFILE", "parent"), ("EVA_SKILLS_PATH", "extra")):
        monkeypatch.setenv(variable, str(tmp_path / folder))
    write(
        tmp_path,
        {
            "data/skills/mine/SKILL.md": "---\nname: mine\ndescription: M\n---\n",
            "parent/skills/theirs/SKILL.md": "---\nname: theirs\ndescription: T\n---\n",
            "extra/review/SKILL.md": REVIEW.format("extra", ""),
            "ws/skills/review/SKILL.md": REVIEW.format("workspace", "requires_bins: no-such-program\n"),
        },
    )
    rows = {row["name"]: row for row in eva.data("skill", "list")["skills"]}
    assert [rows[name]["reason"] for name in ("mine", "theirs", "review")] == ["policy_denied"] * 2 + ["missing"]
    assert rows["review"]["shadows"] == ["<EVA_SKILLS_PATH 1>/review/SKILL.md"]
    policy = tmp_path / "ws/capabilities/policies/default.yaml"
    policy.write_text(policy.read_text() + "\nskills: {allow_user_local: true}\n")
    rows = {row["name"]: row for row in eva.data("skill", "list")["skills"]}
    assert [rows[name]["available"] for name in ("mine", "theirs", "review")] == [True, True, False]
    out, _ = eva.text("skill", "list")
    assert "missing no-such-program" in out
    assert "skills/review/SKILL.md is used, not <EVA_SKILLS_PATH 1>/review/SKILL.md" in out
    assert str(tmp_path) not in out


def test_one_skill_is_shown_with_its_text_and_nothing_steers_a_terminal(eva: Eva, monkeypatch) -> None:
    write(eva.root, {"skills/review/SKILL.md": REVIEW.format("Says: look", "api_key: hunter2-hunter2\n")})
    out, _ = eva.text("skill", "show", "review")
    assert ("EVA-805" in out, "hunter2" in out, "closely." in out) == (True, False, True)
    data = eva.data("skill", "show", "review")
    assert (data["description"], data["body"]) == ("Says: look", "Look \x1b[31mclosely.\n")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    out, _ = eva.text("skill", "show", "review")
    assert "\x1b[31mclosely" not in out
    assert "closely" in out


def test_a_refused_file_is_listed_with_its_line_and_named_when_asked_for(eva: Eva) -> None:
    write(eva.root, {"skills/review/SKILL.md": '---\nname: review\ndescription: "open\n---\n', "skills/old/x.md": ""})
    out, _ = eva.text("skill", "list")
    assert "✗ skills/review/SKILL.md" in out
    assert '3 | description: "open\n  |              ^' in out
    said = eva.json("skill", "show", "review", code=2)
    assert said["error"]["context"]["diagnostics"][0]["code"] == "EVA-804"
    out, _ = eva.text("skill", "doctor")
    assert "skills/old holds no SKILL.md" in out
    assert "2 of 2 skills can be used, 1 files are refused" in out


def test_a_workspace_without_skills_says_so(eva: Eva, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("evatui.runtime.rooms.bundled_skills", lambda: tmp_path / "none")
    (eva.root / "eva.yaml").write_text("layout: {skills: []}\n")
    assert eva.text("skill", "list")[0] == "There are no skills.\n"
    assert eva.text("skill", "index")[0] == ""
    assert eva.data("skill", "context") == {"text": "", "parts": []}
