"""The collector of cycles looks less often while a workspace is read, and is as it was afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from evatui.kernel.registry.collecting import collected_seldom


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_it_looks_less_often_within_and_as_before_afterwards() -> None:
    with collected_seldom():
        within = gc.get_threshold()
    assert within[0] > 700
    assert gc.get_threshold() == (700, 10, 10)


def test_the_last_of_several_puts_it_back() -> None:
    first, second = collected_seldom(), collected_seldom()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] > 700
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


def test_a_failure_within_puts_it_back() -> None:
    with pytest.raises(ValueError, match="within"), collected_seldom():
        raise ValueError("within")
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("newest", [0, 50_000])
def test_whoever_wants_it_still_less_often_or_never_keeps_that(newest: int) -> None:
    gc.set_threshold(newest, 10, 10)
    with collected_seldom():
        assert gc.get_threshold()[0] == newest
