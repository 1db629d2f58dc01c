"""Lines keep to their width, whatever is in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evatui.console.view.ink import Ink, fit, line, measure, plain, safe, wrap

TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=40).map(safe)
LINES = st.lists(st.tuples(TEXTS, st.sampled_from(Ink)), max_size=6).map(lambda spans: line(*spans))


@given(LINES, st.integers(0, 60), st.booleans())
def test_fit_fills_exactly_the_width(content: tuple[tuple[str, Ink], ...], width: int, right: bool) -> None:
    assert measure(fit(content, width, right=right)) == width


@given(st.lists(st.text("abc ", max_size=12), max_size=6), st.integers(4, 30))
def test_wrap_loses_no_letter_and_keeps_to_the_width(texts: list[str], width: int) -> None:
    content = line(*texts)
    rows = wrap(content, width, "  ")
    assert all(measure(row) <= width for row in rows)
    assert "".join(map(plain, rows)).replace(" ", "") == plain(content).replace(" ", "")


def test_a_cut_says_so() -> None:
    assert plain(fit(line("weather-history"), 8)) == "weather…"
    assert plain(fit(line("weather"), 8)) == "weather "


def test_wide_signs_are_counted_as_two() -> None:
    assert plain(fit(line("天気天気"), 5)) == "天気…"
    assert measure(fit(line("天気天気"), 4 + 1)) == 5


@given(st.text())
def test_safe_text_moves_no_cursor(text: str) -> None:
    shown = safe(text)
    assert not any(ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 for sign in shown)
    assert not any(0x202A <= ord(sign) <= 0x202E or 0x2066 <= ord(sign) <= 0x2069 for sign in shown)


@given(st.text("ab天 \u0301", max_size=60), st.integers(4, 20))
def test_a_word_longer_than_a_line_is_broken_and_loses_nothing(text: str, width: int) -> None:
    rows = wrap(line(text), width)
    assert all(measure(row) <= width for row in rows)
    assert "".join(map(plain, rows)).replace(" ", "") == text.replace(" ", "")


@pytest.mark.timeout(60)
def test_one_word_of_a_whole_answer_is_broken_in_one_pass() -> None:
    assert len(wrap(line("天" * 300_000), 74)) == 300_000 // 37 + 1
