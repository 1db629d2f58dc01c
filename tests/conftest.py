from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True, scope="session")
def _nobodys_configuration(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the person who runs the tests has set up for themselves plays no part in them."""
    os.environ["EVA_CONFIG_DIR"] = str(tmp_path_factory.mktemp("config"))
    os.environ.pop("EVA_TRUST", None)
