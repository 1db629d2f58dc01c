from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("patient", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")  # a busy machine is no defect of what is tested


_NAMED_BY = 60


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long text is named by its beginning: the processes of the tests tell each other the name of each, often."""
    if not isinstance(val, str | bytes) or len(val) <= _NAMED_BY:
        return None
    text = val[:_NAMED_BY]
    return (text if isinstance(text, str) else text.decode("latin-1")).encode("unicode_escape").decode("ascii")


def pytest_collection() -> None:
    """What is collected stays to the end: nobody need look through it for garbage, now or in any test."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow ones first, so that where several processes share the tests none is left alone with one."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(autouse=True, scope="session")
def _nobodys_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the person who runs the tests has set up for themselves plays no part in them.

    Where the folders of the tests have names too long for a Unix socket, it lies in one with a short name.
    """
    os.environ["EVA_CONFIG_DIR"] = str(tmp_path_factory.mktemp("config"))
    os.environ["EVA_DATA_DIR"] = str(tmp_path_factory.mktemp("data"))
    for name in ("EVA_TRUST", "EVA_PARENT_PROFILE", "EVA_SKILLS_PATH", "OCTOS_SKILLS_PATH"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="eva") as short:
        os.environ["XDG_RUNTIME_DIR"] = short
        yield
