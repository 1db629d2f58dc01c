"""Every bundled capability serves, and does what its examples say."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.bundled.harness import ROOT, Serving

CAPABILITIES = sorted(path.stem for path in (ROOT / "capabilities").glob("*.yaml"))
EXAMPLES = sorted((ROOT / "capabilities/examples").glob("*/*.yaml"))


def name_of(capability_id: str) -> str:
    manifest = yaml.safe_load((ROOT / f"capabilities/{capability_id}.yaml").read_bytes())
    name: str = manifest["capabilities"][0] if "capabilities" in manifest else manifest["mcp"]["tool_name"]
    return name


def test_all_are_loaded_and_healthy(bundled: Serving) -> None:
    assert sorted(bundled.runtime.table.active) == CAPABILITIES


def test_every_capability_has_examples() -> None:
    assert {path.parent.name for path in EXAMPLES} == set(CAPABILITIES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_it_does_what_the_example_says(bundled: Serving, path: Path) -> None:
    example = yaml.safe_load(path.read_bytes())
    answer = bundled.call(name_of(path.parent.name), example["payload"])
    expect = example.get("expect", {})
    if "error_kind" in expect:
        assert answer["error"]["kind"] == expect["error_kind"]
    else:
        assert answer["ok"], answer["error"]
    if "result" in expect:
        assert answer["result"] == expect["result"]


@pytest.mark.parametrize("capability_id", CAPABILITIES)
def test_a_misspelt_key_is_refused(bundled: Serving, capability_id: str) -> None:
    examples = [yaml.safe_load(path.read_bytes()) for path in EXAMPLES if path.parent.name == capability_id]
    good = next(example["payload"] for example in examples if "error_kind" not in example.get("expect", {}))
    assert bundled.call(name_of(capability_id), good)["ok"]
    assert bundled.call(name_of(capability_id), {**good, "no_such_key": 1})["error"]["kind"] == "InvalidInput"
