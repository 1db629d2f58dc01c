"""A manifest that is broken is refused at a place, or means exactly what it says."""

from __future__ import annotations

import pytest

from evatui.kernel.workspace.layout import Layout
from tests.admission.mutation import break_in_many_ways, read_again
from tests.admission.samples import SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_manifest_broken_in_30_ways(name: str, layout: Layout) -> None:
    files, path = SAMPLES[name]
    count = break_in_many_ways(files, path, layout, 30, "suite")
    assert count["refused"] >= 5


def test_the_second_opinion_reads_yaml_1_2() -> None:
    said = read_again("{a: no, b: 012, c: 1:30, d: 0o14, e: 1e3, f: ~, g: 2024-01-01}")
    assert said == {"a": "no", "b": 12, "c": "1:30", "d": 12, "e": 1000.0, "f": None, "g": "2024-01-01"}
