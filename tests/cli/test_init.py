"""``eva init``: a whole workspace, or nothing at all."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from evatui.cli.main import run
from evatui.control.bundle import bundled_workspace
from tests.cli.fake import Eva
from tests.support.workspaces import EVERYTHING, GREETER, SCRIPT, tool, write

NETWORK = "{network: {hosts: [a.org]}}"


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_samples_arrive_byte_for_byte(eva: Eva, tmp_path: Path) -> None:
    said = eva("init", str(tmp_path / "a" / "b"), "-o", "json")
    assert said.code == 0
    made = tmp_path / "a" / "b"
    assert said.json["data"]["files"] == files_in(made)
    bundled = bundled_workspace()
    copied = [name for name in files_in(made) if name != "eva.yaml"]
    assert any(name.endswith(".lua") for name in copied)
    for name in copied:
        assert (made / name).read_bytes() == (bundled / name).read_bytes()


def test_what_to_try_next_can_be_pasted_whatever_the_folder_is_called(eva: Eva, tmp_path: Path) -> None:
    place = str(tmp_path / "my 漢字 & co")
    tried = eva("init", place, "--empty").err
    assert shlex.split(tried.splitlines()[-1].partition("  or  ")[0]) == ["try:", "evatui", place]
    again = eva("init", place, "-o", "json")
    assert shlex.split(again.json["error"]["suggestion"]) == ["evatui", place]
    nowhere = eva.real("status", "-w", f"{place}/no where", "-o", "json")
    assert shlex.split(nowhere.json["error"]["suggestion"])[-1] == f"{place}/no where"


def test_an_empty_workspace_grants_nothing(eva: Eva, tmp_path: Path) -> None:
    assert eva("init", str(tmp_path / "w"), "--empty").code == 0
    schemas = [f"schemas/evatui.{name}.schema.json" for name in ("adapter", "manifest", "policy", "workspace")]
    assert files_in(tmp_path / "w") == ["capabilities/policies/default.yaml", "eva.yaml", *schemas]
    assert "grants: []" in (tmp_path / "w/capabilities/policies/default.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [(), ("--empty",)])
def test_every_file_names_the_schema_that_editors_check_it_with(eva: Eva, tmp_path: Path, words: tuple[str]) -> None:
    eva("init", str(tmp_path / "w"), *words)
    named = [path for path in sorted((tmp_path / "w").rglob("*.yaml")) if "examples" not in path.parts]
    assert len(named) >= 2
    for path in named:
        first, text = path.read_text().split("\n", 1)
        schema = path.parent / first.removeprefix("# yaml-language-server: $schema=")
        assert jsonschema_rs.validator_for(json.loads(schema.read_text())).is_valid(yaml.safe_load(text))


def test_other_things_in_the_folder_stay_as_they_are(eva: Eva, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert eva("init", str(tmp_path), "--empty").code == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not list(tmp_path.glob(".eva-init-*"))


@pytest.mark.parametrize("there", ["capabilities/x.yaml", "eva.yaml", "schemas/x.json", "config/eva.yaml"])
def test_a_workspace_is_never_written_over(eva: Eva, tmp_path: Path, there: str) -> None:
    file = tmp_path / there
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    said = eva("init", str(tmp_path), "-o", "json")
    assert (said.code, said.json["error"]["kind"]) == (2, "Conflict")
    assert files_in(tmp_path) == [there]


def test_a_file_in_the_way_is_said_plainly(eva: Eva, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("mine")
    said = eva("init", str(tmp_path / "f" / "w"))
    assert said.code == 2
    assert "cannot be written: Not a directory" in said.err


def test_a_failure_half_way_leaves_nothing_behind(eva: Eva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename, left = Path.rename, [2]

    def full_disk(self: Path, target: Path) -> Path:
        left[0] -= 1
        if not left[0]:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full_disk)
    said = eva("init", str(tmp_path / "a" / "w"), "--empty")
    assert said.code == 2
    assert "No space left on device" in said.err
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_is_trusted_as_it_was_written_and_nothing_else_is(
    eva: Eva, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = {"capabilities/policies/p.yaml": EVERYTHING, **tool("net", SCRIPT, permissions=NETWORK), **GREETER}
    write(tmp_path / "bundled", samples)
    monkeypatch.setattr("evatui.control.bundle.bundled_workspace", lambda: tmp_path / "bundled")
    monkeypatch.setenv("EVA_CONFIG_DIR", str(tmp_path / "config"))
    root = tmp_path / "w"

    def parts() -> dict[str, str]:
        assert run(["-w", str(root), "trust", "--dry-run", "-o", "json"]) == 0
        return {part["name"]: part["status"] for part in json.loads(capsys.readouterr().out)["data"]["parts"]}

    said = eva("init", str(root), "-o", "json")
    assert said.json["data"]["trusted"] == ["capability net"]
    assert parts() == {"capability net": "trusted"}
    write(root, tool("mine", SCRIPT, permissions=NETWORK))
    write(root, tool("net", SCRIPT + "-- edited", permissions=NETWORK))
    assert parts() == {"capability mine": "held", "capability net": "changed"}


def test_samples_that_ask_for_no_power_leave_no_trace_of_trust(
    eva: Eva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVA_CONFIG_DIR", str(tmp_path / "config"))
    assert eva("init", str(tmp_path / "w"), "-o", "json").json["data"]["trusted"] == []
    assert not (tmp_path / "config").exists()
