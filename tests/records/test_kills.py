"""Kill -9 in the middle of records, in both modes and under a signed head. Long runs: `tests/soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from evatui.kernel.workspace.settings import AuditMode
from tests.soak.audit_kills import kill_at_random


@pytest.mark.parametrize("mode", AuditMode)
def test_a_log_whose_writer_is_killed_is_whole(tmp_path: Path, mode: AuditMode) -> None:
    report = kill_at_random(tmp_path, 1, mode)
    assert report.problems == []
    assert report.acknowledged > 0
