from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from evatui.kernel.admission.verdict import Verdict
from evatui.kernel.workspace.layout import Layout, open_layout
from tests.admission.harness import judge


@pytest.fixture(scope="session")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    return open_layout(tmp_path_factory.mktemp("ws"))


@pytest.fixture
def verdict_on(layout: Layout) -> Callable[[Mapping[str, str | bytes]], Verdict]:
    return lambda files: judge(files, layout)
