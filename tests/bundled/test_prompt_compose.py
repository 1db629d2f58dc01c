"""``prompt.compose``: a template, values and as many sections as fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bundled.harness import Serving

SECTIONS = st.lists(
    st.fixed_dictionaries({"text": st.text("abc ä", min_size=1, max_size=30), "priority": st.integers(0, 3)}),
    max_size=6,
)


Compose = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def compose(bundled: Serving) -> Compose:
    return lambda **payload: bundled.call("prompt.compose", payload)


@pytest.fixture(scope="session")
def text_of(compose: Compose) -> Callable[..., str]:
    def text_of(**payload: Any) -> str:
        answer = compose(**payload)
        assert answer["ok"], answer["error"]
        text: str = answer["result"]["text"]
        return text

    return text_of


def test_values_take_the_place_of_their_names(text_of: Callable[..., str]) -> None:
    variables = {"who": "Ada", "count": 3, "sure": True}
    assert text_of(template="{{who}} has {{ count }}: {{sure}}{{who}}", variables=variables) == "Ada has 3: trueAda"


def test_every_missing_name_is_told(compose: Compose) -> None:
    error = compose(template="{{b}} {{a}} {{there}}", variables={"there": 1}, sections=[{"text": "{{c}}"}])["error"]
    assert (error["kind"], error["message"]) == ("InvalidInput", "missing variables: a, b, c")


def test_a_value_is_never_read_as_a_template(text_of: Callable[..., str]) -> None:
    assert text_of(template="{{a}}", variables={"a": "{{b}} %1", "b": "secret"}) == "{{b}} %1"


def test_a_backslash_keeps_the_braces(text_of: Callable[..., str]) -> None:
    assert text_of(template="\\{{a}} {{a}}", variables={"a": 1}) == "{{a}} 1"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("one\ntwo {{a", "line 2: '{{' without '}}'"),
        ("{{a b}}", "line 1: 'a b' is no name"),
        ("{{}}", "line 1: '' is no name"),
    ],
)
def test_a_broken_placeholder_is_told_with_its_line(compose: Compose, template: str, message: str) -> None:
    assert message in compose(template=template, variables={"a": 1})["error"]["message"]


def test_sections_come_by_priority_where_the_template_says(text_of: Callable[..., str]) -> None:
    sections = [
        {"text": "low", "priority": 1},
        {"title": "T", "text": "high", "priority": 9},
        {"text": "also low", "priority": 1},
    ]
    assert text_of(template="<{{sections}}>", sections=sections) == "<T\nhigh\n\nlow\n\nalso low>"
    assert text_of(template="begin", sections=sections[:1]) == "begin\n\nlow"
    assert text_of(template="", sections=sections[:1]) == "low"


def test_the_lowest_priority_goes_first_and_is_named(compose: Compose) -> None:
    sections = [{"name": "a", "text": "a" * 10, "priority": 1}, {"name": "b", "text": "b" * 10, "priority": 2}]
    result = compose(template="t", sections=sections, max_chars=15)["result"]
    assert result["text"] == "t\n\n" + "b" * 10
    assert result["dropped"] == [{"name": "a", "priority": 1, "characters": 10}]


def test_a_template_is_never_cut(compose: Compose) -> None:
    assert compose(template="ä" * 10, max_chars=10)["ok"]
    assert "has 11 characters, max_chars is 10" in compose(template="ä" * 11, max_chars=10)["error"]["message"]


def test_variables_that_nothing_asks_for_are_told(compose: Compose) -> None:
    result = compose(template="{{a}}", variables={"a": 1, "b": 2})["result"]
    assert result["unused_variables"] == ["b"]


@given(SECTIONS, st.integers(1, 100))
def test_it_fits_and_no_section_is_dropped_without_need(
    compose: Compose, sections: list[dict[str, Any]], limit: int
) -> None:
    result = compose(template="x", sections=sections, max_chars=limit)["result"]
    assert len(result["text"]) == result["characters"] <= limit
    if result["dropped"]:
        assert result["characters"] + 2 + result["dropped"][0]["characters"] > limit
    kept, dropped = len(result["sections"]), len(result["dropped"])
    assert kept + dropped == len(sections)
