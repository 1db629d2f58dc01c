"""Every bundled capability loads, is healthy, and does what its examples say."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.bundled.harness import ROOT, Tool

CAPABILITIES = sorted(path.stem for path in (ROOT / "capabilities").glob("*.yaml"))
EXAMPLES = sorted((ROOT / "capabilities/examples").glob("*/*.yaml"))


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_it_is_healthy(capability: str) -> None:
    assert Tool(capability, ROOT).health() == {"ok": True}


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_misspelt_key_is_refused(capability: str) -> None:
    examples = [yaml.safe_load(path.read_bytes()) for path in EXAMPLES if path.parent.name == capability]
    good = next(e["payload"] for e in examples if "error_kind" not in e.get("expect", {}))
    answer = Tool(capability, ROOT).call({**good, "no_such_key": 1})
    assert answer["error"]["kind"] == "InvalidInput"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_it_does_what_the_example_says(path: Path) -> None:
    example = yaml.safe_load(path.read_bytes())
    answer = Tool(path.parent.name, ROOT).call(example["payload"])
    expect = example.get("expect", {})
    if "error_kind" in expect:
        assert answer["error"]["kind"] == expect["error_kind"]
    else:
        assert answer["ok"], answer
    if "result" in expect:
        assert answer["result"] == expect["result"]


def test_every_capability_has_examples() -> None:
    assert {path.parent.name for path in EXAMPLES} == set(CAPABILITIES)
