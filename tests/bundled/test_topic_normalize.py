"""``topic.normalize``: one spelling for every topic, and the one that the bus accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.model.topic import KERNEL_ROOTS, is_topic, is_topic_pattern, topic_matches
from tests.bundled.harness import Serving

SEGMENT = st.text("ab.-_", min_size=1, max_size=3).filter(lambda text: text not in (".", ".."))
TOPIC = st.lists(SEGMENT, min_size=1, max_size=5).map(lambda parts: "/" + "/".join(parts))
PATTERN = st.tuples(st.lists(SEGMENT | st.just("*"), max_size=4), st.sampled_from(["**", "*", "a"])).map(
    lambda parts: "/" + "/".join([*parts[0], parts[1]])
)


Normalize = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def normalize(bundled: Serving) -> Normalize:
    return lambda topic, **more: bundled.call("topic.normalize", {"topic": topic, **more})


@pytest.mark.parametrize(
    ("untidy", "topic", "changes"),
    [
        ("/repo/changed", "/repo/changed", []),
        ("repo", "/repo", ["slash_added"]),
        ("//a///b//", "/a/b", ["trailing_slash_removed", "slashes_collapsed"]),
        ("/My Topic", "/my-topic", ["lower_cased", "spaces_replaced"]),
        ("/a/ b /c", "/a/b/c", ["trimmed"]),
        ("/a/käse", "/a/kse", ["characters_removed"]),
        ("/a/§/b", "/a/b", ["characters_removed", "segment_removed"]),
        ("/a/../b/./...", "/a/b/...", ["segment_removed"]),
        ("/a/ .§. /b", "/a/b", ["trimmed", "characters_removed", "segment_removed"]),
    ],
)
def test_it_says_what_it_changed(normalize: Normalize, untidy: str, topic: str, changes: list[str]) -> None:
    result = normalize(untidy)["result"]
    assert result["topic"] == topic
    assert sorted(result["changes"]) == sorted(changes)
    assert result["changed"] is bool(changes)


@pytest.mark.parametrize("nothing", ["", "   ", "/", "///", "/ /", "/§/", "/../."])
def test_a_topic_of_which_nothing_is_left_is_refused(normalize: Normalize, nothing: str) -> None:
    assert normalize(nothing)["error"]["kind"] == "InvalidInput"


def test_a_topic_that_is_too_deep_or_too_long_is_refused_and_the_limit_named(normalize: Normalize) -> None:
    assert normalize("/a" * 16)["ok"]
    assert "17 segments, 16" in normalize("/a" * 17)["error"]["message"]
    assert normalize("/" + "a" * 64)["ok"]
    assert "65 characters, 64" in normalize("/" + "a" * 65)["error"]["message"]


def test_a_wildcard_is_no_topic(normalize: Normalize) -> None:
    assert "pattern" in normalize("/repo/*")["error"]["message"]


def test_it_tells_topics_that_only_the_kernel_may_emit_to(normalize: Normalize) -> None:
    for root in KERNEL_ROOTS:
        assert normalize(f"/{root.upper()}/x")["result"]["kernel_only"] is True
    assert normalize("/repo/capability")["result"]["kernel_only"] is False


@pytest.mark.parametrize("broken", ["/a/**/b", "", "/§"])
def test_a_broken_pattern_is_refused(normalize: Normalize, broken: str) -> None:
    assert normalize("/a", pattern=broken)["error"]["message"].startswith("pattern: ")


@given(st.text(st.characters(exclude_characters="*", exclude_categories=["Cs"]), max_size=200))
def test_what_comes_out_is_a_topic_and_stays_as_it_is(normalize: Normalize, text: str) -> None:
    answer = normalize(text)
    if answer["ok"]:
        topic = answer["result"]["topic"]
        assert is_topic(topic)
        assert normalize(topic)["result"] == {**answer["result"], "changed": False, "changes": []}


@given(TOPIC, PATTERN)
def test_it_matches_as_the_bus_does(normalize: Normalize, topic: str, pattern: str) -> None:
    result = normalize(topic, pattern=pattern)["result"]
    assert is_topic_pattern(result["pattern"])
    assert result["matches"] is topic_matches(pattern, topic)
