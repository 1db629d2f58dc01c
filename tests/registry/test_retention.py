"""What is kept: never without what serves, the last known good, the pinned one, and the last that were never bad."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.retention import KEPT_FOR_ROLLBACK, Kept, retained

DIGESTS = st.lists(st.integers(0, 60).map(str), unique=True, max_size=40)


def version(digest: str) -> Kept:
    return Kept(GenerationId(f"a@1.0.0+build.20260102.{digest}", int(digest)), "1.0.0", digest, "2026-01-02T00:00:00Z")


@given(DIGESTS, st.sets(st.integers(0, 60).map(str)), st.integers(0, 60).map(str))
def test_no_number_of_bad_versions_drives_out_the_good_ones(digests: list[str], bad: set[str], pinned: str) -> None:
    kept = [one.digest for one in retained(map(version, digests), bad, pinned)]
    assert kept == [digest for digest in digests if digest in kept], "the latest first"
    sound = [digest for digest in digests if digest not in bad]
    assert {*digests[:KEPT_FOR_ROLLBACK], *sound[:KEPT_FOR_ROLLBACK]} <= {*kept}
    assert (pinned in kept) is (pinned in digests)
    assert len(kept) <= 2 * KEPT_FOR_ROLLBACK + 1


@given(DIGESTS, st.sets(st.integers(0, 60).map(str)), st.integers(0, 60).map(str))
def test_what_is_let_go_of_step_by_step_is_what_would_be_in_one_go(
    digests: list[str], bad: set[str], pinned: str
) -> None:
    step_by_step: list[Kept] = []
    for digest in reversed(digests):
        step_by_step = retained([version(digest), *step_by_step], bad, pinned)
    assert step_by_step == retained(map(version, digests), bad, pinned)
