"""``workflow.config_lint``: a plan of what to mend, out of what is wrong and what is only unwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.harness import ROOT, Serving
from tests.bundled.test_config_validate import PROJECT, write

MANIFEST = PROJECT["capabilities/greet.yaml"]
EXAMPLE = {"capabilities/examples/greet/one.yaml": "name: One\npayload: {}\n"}
GOOD = MANIFEST.replace("entry: invoke\n", "entry: invoke\n  health_check: invoke\n") + "description: Greets.\n"
Steps = Callable[..., list[tuple[str, int | None, str, str]]]


@pytest.fixture
def lint(folder: Path, look: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Writes the project, with files replaced or added; the result of the skill."""

    def lint(changes: dict[str, str | None] | None = None, **payload: Any) -> dict[str, Any]:
        write(folder, {**PROJECT, **EXAMPLE, "capabilities/greet.yaml": GOOD, **(changes or {})})
        return look("workflow.config_lint", **payload)

    return lint


@pytest.fixture
def steps(lint: Callable[..., dict[str, Any]]) -> Steps:
    def steps(manifest: str, **payload: Any) -> list[tuple[str, int | None, str, str]]:
        found = lint({"capabilities/greet.yaml": manifest}, **payload)["steps"]
        return [(one["path"], one.get("line"), one["severity"], one["rule"]) for one in found]

    return steps


def test_what_is_well_is_clean(lint: Callable[..., dict[str, Any]]) -> None:
    assert lint() == {
        "clean": True,
        "summary": "nothing to mend",
        "steps": [],
        "steps_total": 0,
        "counts": {"error": 0, "warning": 0, "info": 0},
        "complete": True,
    }


@pytest.mark.parametrize(
    ("old", "new", "step"),
    [
        ("description: Greets.\n", "", (1, "warning", "description_missing")),
        ("  health_check: invoke\n", "", (6, "info", "health_check_missing")),
        ("version", "permissions: {fs: {read: ['*']}}\nversion", (3, "warning", "permission_unlimited")),
        ("version", "permissions: {fs: {write: [workspace/out]}}\nversion", (3, "warning", "side_effects_unsaid")),
        ("version", "limits: {timeout_ms: 90000}\nversion", (3, "info", "timeout_long")),
        ("id: greet", "id: other", (1, "info", "examples_missing")),
        ("version", "prioritty: 3\nversion", (3, "error", "key_unknown")),
    ],
)
def test_each_rule_at_its_line(steps: Steps, old: str, new: str, step: tuple[int, str, str]) -> None:
    assert old in GOOD
    found = [one for one in steps(GOOD.replace(old, new, 1)) if one[0] == "capabilities/greet.yaml"]
    assert found == [("capabilities/greet.yaml", *step)]


def test_the_gravest_come_first_and_what_is_left_out_counts_nowhere(lint: Callable[..., dict[str, Any]]) -> None:
    broken = {"capabilities/worse.yaml": "id: worse\n\tkind: lua_tool\n", "capabilities/greet.yaml": MANIFEST}
    found = lint(broken)
    assert [one["path"] for one in found["steps"]][-1] == "capabilities/greet.yaml"
    assert (found["steps"][0]["path"], found["clean"]) == ("capabilities/worse.yaml", False)
    assert found["summary"] == "2 errors, 2 warnings, 2 remarks in 2 files"
    assert len({tuple(one.values()) for one in found["steps"]}) == found["steps_total"] == 6
    errors = lint(broken, severity="error")
    assert {one["severity"] for one in errors["steps"]} == {"error"}
    assert (errors["steps_total"], errors["summary"]) == (found["steps_total"], found["summary"])
    without = lint(broken, skip=["key_missing", "description_missing"])
    assert without["steps_total"] < found["steps_total"]
    assert not {"key_missing", "description_missing"} & {one["rule"] for one in without["steps"]}


def test_every_rule_has_an_advice_of_its_own() -> None:
    sources = [path.read_text() for path in (ROOT / "capabilities").rglob("*.lua") if "lint" in path.name]
    others = ("modules/project.lua", "modules/yamllines.lua", "tools/config_validate.lua")
    text = "\n".join([*sources, *((ROOT / "capabilities" / name).read_text() for name in others)])
    codes = set(re.findall(r'report\("(?:error|warning|info|)", "(\w+)"|report\(at, "(\w+)"|code = "(\w+)"', text))
    rules = {code for found in codes for code in found if code} - {"settings_absent"}
    advice = (ROOT / "capabilities/modules/lintrules.lua").read_text()
    assert len(rules) > 20
    assert [rule for rule in sorted(rules) if not re.search(rf"^  {rule} = ", advice, re.MULTILINE)] == []


def test_without_the_tool_that_finds_mistakes_it_says_so(tmp_path: Path) -> None:
    names = ("config-lint.yaml", "skills/config_lint.lua", "policies/default.yaml")
    for name in (*names, *(f"modules/{one.name}" for one in (ROOT / "capabilities/modules").iterdir())):
        target = tmp_path / "capabilities" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / "capabilities" / name).read_bytes())
    (tmp_path / "schemas").mkdir()
    for way in ("input", "output"):
        (tmp_path / f"schemas/config_lint.{way}.json").write_bytes(
            (ROOT / f"schemas/config_lint.{way}.json").read_bytes()
        )
    serving = Serving(tmp_path)
    try:
        error = serving.call("workflow.config_lint", {})["error"]
    finally:
        serving.close()
    assert (error["kind"], error["retryable"]) == ("Unavailable", True)
    assert error["message"].startswith("config.validate_project does not answer: nothing provides")
