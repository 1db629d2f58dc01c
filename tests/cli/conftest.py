from __future__ import annotations

import pytest

from tests.cli.fake import Eva


@pytest.fixture
def eva(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Eva:
    for name in ("EVA_STATE_DIR", "NO_COLOR", "EVA_DEBUG", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Eva(capsys)
