"""Each manifest broken in 300 ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from evatui.kernel.workspace.layout import open_layout
from tests.admission.mutation import break_in_many_ways
from tests.admission.samples import SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_manifest_broken_in_300_ways(name: str, tmp_path: Path) -> None:
    files, path = SAMPLES[name]
    count = break_in_many_ways(files, path, open_layout(tmp_path), 300, "soak")
    assert count["refused"] >= 100
    assert count["admitted"] >= 1
