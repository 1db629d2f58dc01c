"""Full size of `tests/records/test_kills.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from evatui.kernel.workspace.settings import AuditMode
from tests.soak.audit_kills import kill_at_random


@pytest.mark.parametrize("mode", AuditMode)
def test_a_log_whose_writer_is_killed_two_hundred_times_is_whole(tmp_path: Path, mode: AuditMode) -> None:
    assert kill_at_random(tmp_path, 200, mode).problems == []
