"""The capability that the guide writes, block by block, is one that works."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.bundled.harness import ROOT, Serving

GUIDE = (ROOT / "docs/writing-capabilities.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(yaml|json|lua)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
"""Those that are files; what is only a part of one is marked as an excerpt."""
NAMES = [
    ("yaml", "capabilities/greet.yaml"),
    ("json", "schemas/greet.input.json"),
    ("json", "schemas/greet.output.json"),
    ("lua", "capabilities/tools/greet.lua"),
    ("yaml", "capabilities/policies/default.yaml"),
    ("yaml", "capabilities/examples/greet/ada.yaml"),
]


@pytest.fixture
def guided(tmp_path: Path) -> Iterator[Serving]:
    assert [language for language, _ in BLOCKS] == [language for language, _ in NAMES]
    for (_, name), (_, text) in zip(NAMES, BLOCKS, strict=True):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "capabilities/modules", tmp_path / "capabilities/modules")
    serving = Serving(tmp_path)
    yield serving
    serving.close()


def test_the_example_of_the_guide_comes_out(guided: Serving) -> None:
    example = yaml.safe_load(BLOCKS[-1][1])
    assert guided.call("text.greet", example["payload"])["result"] == example["expect"]["result"]


def test_its_errors_do_too(guided: Serving) -> None:
    assert guided.call("text.greet", {"name": "  "})["error"]["message"] == "name is empty"
    assert guided.call("text.greet", {"nmae": "Ada"})["error"]["kind"] == "InvalidInput"
