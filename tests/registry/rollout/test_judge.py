"""The judge: exact bounds against known tables and laws, and every verdict of the table."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evatui.kernel.registry.rollout.bounds import certainly_above, certainly_below, lower_bound, upper_bound
from evatui.kernel.registry.rollout.judge import Counts, Limits, Verdict, exceeds, judge

counts = st.integers(0, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
LIMIT = Limits(min_samples=20, max_error_rate=0.2)
NOBODY = Counts()


def chance_of_at_most(faults: int, samples: int, rate: float) -> float:
    """The binomial distribution, term by term."""
    return math.fsum(math.comb(samples, k) * rate**k * (1 - rate) ** (samples - k) for k in range(faults + 1))


@pytest.mark.parametrize(
    ("faults", "samples", "lower95", "upper95"),
    [  # one-sided 95 %: the ends of the two-sided 90 % intervals of printed tables
        (0, 10, 0.0, 0.25887),
        (1, 10, 0.00512, 0.39416),
        (5, 10, 0.22244, 0.77756),
        (10, 10, 0.74113, 1.0),
        (2, 30, 0.01198, 0.19533),
        (0, 20, 0.0, 0.13911),
        (1, 20, 0.00256, 0.21611),
        (50, 100, 0.41362, 0.58638),
    ],
)
def test_the_bounds_are_those_of_the_tables(faults: int, samples: int, lower95: float, upper95: float) -> None:
    assert lower_bound(faults, samples, 0.95) == pytest.approx(lower95, abs=1e-5)
    assert upper_bound(faults, samples, 0.95) == pytest.approx(upper95, abs=1e-5)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.95, 0.99]))
def test_a_bound_is_where_the_binomial_distribution_says_it_is(at: tuple[int, int], confidence: float) -> None:
    faults, samples = at
    if faults < samples:
        assert chance_of_at_most(faults, samples, upper_bound(*at, confidence)) == pytest.approx(1 - confidence)
    if faults:
        below = chance_of_at_most(faults - 1, samples, lower_bound(*at, confidence))
        assert 1 - below == pytest.approx(1 - confidence)


@given(counts, st.sampled_from([0.9, 0.95, 0.99]))
def test_the_rate_lies_between_its_bounds_and_more_confidence_means_wider_ones(
    at: tuple[int, int], confidence: float
) -> None:
    faults, samples = at
    rate = faults / samples if samples else 0.5
    assert 0 <= lower_bound(*at, confidence) <= rate <= upper_bound(*at, confidence) <= 1
    assert lower_bound(*at, 0.999) <= lower_bound(*at, confidence)
    assert upper_bound(*at, 0.999) >= upper_bound(*at, confidence)


@given(counts, st.floats(0, 1), st.sampled_from([0.95, 0.99]))
@example((1, 1), 0.0, 0.99)
@example((0, 5), 1.0, 0.95)
@example((5, 5), 1.0, 0.95)
def test_the_quick_comparisons_are_those_of_the_bounds(at: tuple[int, int], rate: float, confidence: float) -> None:
    lower, upper = lower_bound(*at, confidence), upper_bound(*at, confidence)
    if abs(lower - rate) > 1e-9:
        assert certainly_above(rate, *at, confidence) is (lower > rate)
    if abs(upper - rate) > 1e-9 or upper == 1.0:
        assert certainly_below(rate, *at, confidence) is (upper <= rate)


@pytest.mark.parametrize(("faults", "samples"), [(0, 100_000), (1_000, 100_000), (50_000, 100_000), (99_999, 100_000)])
def test_many_samples_are_no_trouble(faults: int, samples: int) -> None:
    rate = faults / samples
    assert lower_bound(faults, samples, 0.99) == pytest.approx(rate, abs=0.005)
    assert upper_bound(faults, samples, 0.99) == pytest.approx(rate, abs=0.005)


@pytest.mark.parametrize(("faults", "samples"), [(-1, 3), (4, 3)])
def test_counts_that_cannot_be_are_refused(faults: int, samples: int) -> None:
    for bound in (lower_bound, upper_bound):
        with pytest.raises(ValueError, match=f"{faults} faults of {samples}"):
            bound(faults, samples, 0.95)


@pytest.mark.parametrize(
    ("canary", "baseline", "verdict"),
    [
        # nothing seen, or too little to pass, and not bad enough to fail
        ((0, 0), (0, 0), Verdict.INSUFFICIENT_DATA),
        ((0, 19), (0, 500), Verdict.INSUFFICIENT_DATA),
        ((1, 1), (0, 0), Verdict.INSUFFICIENT_DATA),
        ((2, 2), (0, 0), Verdict.INSUFFICIENT_DATA),
        # three straight faults are enough, however few the samples
        ((3, 3), (0, 0), Verdict.FAIL),
        ((3, 3), (0, 500), Verdict.FAIL),
        # enough calls
        ((0, 20), (0, 0), Verdict.PASS),
        ((0, 20), (0, 500), Verdict.PASS),
        ((1, 20), (0, 0), Verdict.INCONCLUSIVE),
        ((1, 30), (0, 0), Verdict.PASS),
        ((6, 20), (0, 500), Verdict.INCONCLUSIVE),
        ((12, 20), (0, 0), Verdict.FAIL),
        ((12, 20), (0, 500), Verdict.FAIL),
        # the old version is as bad: no failure, and as good as the old one is a pass
        ((12, 20), (60, 100), Verdict.INCONCLUSIVE),
        ((100, 200), (120, 200), Verdict.PASS),
        ((2, 20), (60, 100), Verdict.PASS),
        ((20, 20), (60, 100), Verdict.FAIL),
        # an old version with fewer calls than min_samples says nothing
        ((12, 20), (19, 19), Verdict.FAIL),
        ((6, 20), (19, 19), Verdict.INCONCLUSIVE),
        # within the limit, the old version is no yardstick for a pass
        ((2, 20), (10, 100), Verdict.INCONCLUSIVE),
    ],
)
def test_the_table_of_verdicts(canary: tuple[int, int], baseline: tuple[int, int], verdict: Verdict) -> None:
    assert judge(of(canary), of(baseline), LIMIT) is verdict


def of(pair: tuple[int, int]) -> Counts:
    return Counts(samples=pair[1], faults=pair[0])


@given(counts, counts, st.integers(1, 100), st.floats(0, 1))
def test_the_verdict_is_the_one_that_the_bounds_give(
    canary: tuple[int, int], baseline: tuple[int, int], min_samples: int, limit: float
) -> None:
    known = baseline[1] >= min_samples
    lower, upper = lower_bound(*canary, 0.99), upper_bound(*canary, 0.95)
    allowed = max(limit, upper_bound(*baseline, 0.95)) if known else limit
    old = upper_bound(*baseline, 0.95) if known and of(baseline).rate > limit else limit
    if min(abs(lower - allowed), abs(upper - limit), abs(upper - old)) < 1e-9:
        return  # on the edge, where the last digit decides
    expected = (
        Verdict.FAIL
        if lower > allowed
        else Verdict.INSUFFICIENT_DATA
        if canary[1] < min_samples
        else Verdict.PASS
        if upper <= limit or upper <= old
        else Verdict.INCONCLUSIVE
    )
    assert judge(of(canary), of(baseline), Limits(min_samples, limit)) is expected


@given(counts, counts, st.integers(1, 100), st.floats(0, 1))
def test_another_fault_never_makes_a_verdict_better(
    canary: tuple[int, int], baseline: tuple[int, int], min_samples: int, limit: float
) -> None:
    faults, samples = canary
    if faults == samples:
        return
    limits = Limits(min_samples, limit)
    better = judge(of(canary), of(baseline), limits)
    worse = judge(of((faults + 1, samples)), of(baseline), limits)
    assert not (better is Verdict.FAIL and worse is not Verdict.FAIL)
    assert not (worse is Verdict.PASS and better is not Verdict.PASS)


def test_a_limit_of_nothing_fails_at_the_first_fault_and_passes_never() -> None:
    strict = Limits(1, 0.0)
    assert judge(Counts(5, 1), NOBODY, strict) is Verdict.FAIL
    assert judge(Counts(5, 0), NOBODY, strict) is Verdict.INCONCLUSIVE


def test_a_limit_of_everything_is_passed_by_whatever_is_called_often_enough() -> None:
    assert judge(Counts(20, 20), NOBODY, Limits(20, 1.0)) is Verdict.PASS


def test_alone_a_version_is_judged_by_its_plain_rate_and_with_enough_calls_only() -> None:
    limits = Limits(20, 0.5)
    assert not exceeds(Counts(19, 19), limits)
    assert not exceeds(Counts(20, 10), limits)
    assert exceeds(Counts(20, 11), limits)
