"""``eva capability list`` skips nothing silently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.main import run
from tests.support.workspaces import GREETER, INPUT, MANIFEST, write


def listed(root: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["-w", str(root), "capability", "list", "-o", "json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)["data"]
    return data


def test_files_that_define_nothing_are_named_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    idle = ("capabilities/tools/spare.lua", "capabilities/OLD.YAML", "capabilities/.hidden.yaml", "capabilities/a.json")
    write(tmp_path, {**GREETER, **dict.fromkeys(idle, ""), "capabilities/evatui.d.lua": ""})
    files = {entry["path"]: entry["why"] for entry in listed(tmp_path, capsys)["files"]}
    assert sorted(files) == sorted(idle)
    assert "no manifest" in files["capabilities/tools/spare.lua"]
    assert "hidden" in files["capabilities/.hidden.yaml"]


def test_a_script_that_is_named_and_cannot_be_read_is_no_spare_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {**GREETER, "capabilities/tools/greet.lua": "-" * (2 << 20)})
    data = listed(tmp_path, capsys)
    assert ([row["reason"] for row in data["capabilities"]], data["files"]) == (["file_missing"], [])


def test_both_files_of_a_duplicate_and_a_disabled_one_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twin = "capabilities/twin.yaml"
    off = MANIFEST.replace("id: greet", "id: off").replace("text.greet", "text.off") + "enabled: false\n"
    write(tmp_path, {**GREETER, twin: MANIFEST, "capabilities/off.yaml": off})
    rows = {row["path"]: (row["state"], row["reason"]) for row in listed(tmp_path, capsys)["capabilities"]}
    assert rows["capabilities/greet.yaml"] == rows[twin] == ("Rejected", "duplicate_id")
    assert rows["capabilities/off.yaml"] == ("Disabled", "disabled_by_manifest")


def test_what_a_sound_one_gets_wrong_is_told_wherever_it_is_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {**GREETER, "schemas/greet.input.json": INPUT.replace('"required"', '"requird"')})
    (warning,) = listed(tmp_path, capsys)["warnings"]
    assert (warning["id"], warning["code"], warning["spans"][0]["file"]) == (
        "greet",
        "EVA-310",
        "schemas/greet.input.json",
    )
    for words in (("list",), ("inspect", "greet"), ("reload", "--dry-run")):
        assert run(["-w", str(tmp_path), "capability", *words]) == 0
        assert "did you mean required?" in capsys.readouterr().out


def test_a_name_with_several_providers_says_who_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = MANIFEST.replace("id: greet", "id: other") + "priority: 70\n"
    write(tmp_path, {**GREETER, "capabilities/other.yaml": other})
    (entry,) = listed(tmp_path, capsys)["shadowed"]
    assert entry == {"name": entry["name"], "served_by": "other", "behind": ["greet"]}
    assert "capabilities/tools/greet.lua" not in [file["path"] for file in listed(tmp_path, capsys)["files"]]
