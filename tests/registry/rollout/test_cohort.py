"""Who is in the canary: sticky, in the share that was asked for, and named ones in any case."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.model.manifest import CanarySpec
from evatui.kernel.registry.rollout.cohort import bucket, place, told

PERCENT = st.floats(0, 100)
USERS = [f"user-{n}" for n in range(1000)]


def has(cohort: CanarySpec, user: str | None = None, tags: dict[str, str] | None = None, trace: str = "t") -> bool:
    return place(cohort, "greet", user=user, tags=tags or {}, workspace="ws", trace_id=trace).canary


@given(st.text(max_size=40), PERCENT, PERCENT)
def test_a_subject_moves_only_where_the_share_moves_past_it(user: str, one: float, other: float) -> None:
    small, large = sorted((one, other))
    before, after = has(CanarySpec(small), user), has(CanarySpec(large), user)
    assert after or not before  # it grew: nobody was taken out of the canary
    assert before or not has(CanarySpec(small), user)  # and back: the same ones are in it as before


@given(st.text(max_size=40))
def test_none_of_it_and_all_of_it(user: str) -> None:
    assert not has(CanarySpec(0), user)
    assert has(CanarySpec(100), user)
    assert 0 <= bucket("greet", user) < 100


def test_the_share_is_the_one_that_was_asked_for() -> None:
    for percent in (1, 10, 50):
        taken = sum(has(CanarySpec(percent), user) for user in USERS)
        assert abs(taken - 10 * percent) < 40  # a thousand draws: less than three deviations


def test_other_capabilities_have_other_users_in_their_canaries() -> None:
    mine = {user for user in USERS if bucket("one", user) < 10}
    others = {user for user in USERS if bucket("two", user) < 10}
    assert len(mine & others) < 40


def test_a_call_without_a_user_is_placed_by_its_trace() -> None:
    taken = {trace: has(CanarySpec(10), trace=trace) for trace in USERS}
    assert 60 < sum(taken.values()) < 140
    assert taken == {trace: has(CanarySpec(10), trace=trace) for trace in USERS}
    assert has(CanarySpec(50), "ann", trace="a") == has(CanarySpec(50), "ann", trace="b")


def test_the_named_are_in_it_whatever_the_share() -> None:
    cohort = CanarySpec(0, users=("ann",), tags={"ring": "beta", "team": "x"})
    assert has(cohort, "ann")
    assert not has(cohort, "bob")
    assert has(cohort, "bob", {"ring": "beta", "team": "x", "more": "y"})
    assert not has(cohort, "bob", {"ring": "beta"})
    assert not has(CanarySpec(0), "bob", {})
    assert has(CanarySpec(0, workspaces=("ws",)))
    assert not has(CanarySpec(0, workspaces=("other",)))


def test_it_says_why() -> None:
    cohort = CanarySpec(10, ("lab",), ("ann",), {"ring": "beta"})
    named = place(cohort, "greet", user="ann", tags={}, workspace="ws", trace_id="t")
    assert named.why == "user ann is named in canary.users"
    other = place(cohort, "greet", user="bob", tags={}, workspace="ws", trace_id="t")
    assert other.why == f"user bob is at {bucket('greet', 'bob'):.2f} of 100, and the canary takes those below 10 %"
    assert told(cohort) == "10 %, users ann, tags ring=beta, workspaces lab"
