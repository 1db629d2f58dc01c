"""Every promise about the borders has its test: the table beside this file names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in Path(__file__).with_name("ANSWERS.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and "`" in line
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_each_promise_has_its_tests(row: list[str]) -> None:
    named = re.findall(r"`([\w/]+)::(\w+)`", row[-1])
    assert named, row
    for module, name in named:
        text = (ROOT / f"{module}.py").read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {name}\(", text, re.M), f"{module}::{name}"


def test_the_table_is_whole() -> None:
    assert len(ROWS) >= 30
