"""The law of the permission diff: a field is widened exactly if something is allowed that was not before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.admission.grant import Grant
from evatui.kernel.admission.grants import AREAS, Area
from evatui.kernel.admission.permission_diff import permission_changes
from evatui.kernel.model.change import Trend
from evatui.kernel.model.manifest import Isolation
from evatui.kernel.model.permissions import NOTHING, Events, Permissions
from tests.admission.test_laws import LAW, PERMISSIONS

FRESH = "fresh"


def requests(area: Area, entry: Any) -> list[Any]:
    """Concrete requests that ``entry`` allows, one of them as far from any other entry as can be."""
    if isinstance(entry, tuple):
        return [entry, (*entry, FRESH)]
    if area.path[0] == "events":
        stem = "" if entry == "*" else entry.removesuffix("/**")
        deep = entry == "*" or entry.endswith("/**")
        topics = [stem.replace("*", FRESH) + f"/{FRESH}" * more for more in (range(6) if deep else (0,))]
        return [topic for topic in topics if topic]
    if area.path[0] == "fs":
        return [FRESH if entry == "*" else entry, FRESH if entry == "*" else f"{entry}/{FRESH}"]
    return [entry.replace("*", FRESH), entry.replace("*", "")] if entry != "*" else [FRESH]


def allows(area: Area, granted: Permissions, request: Any) -> bool:
    return area.gives(granted, request)


@LAW
@given(PERMISSIONS, PERMISSIONS)
def test_widened_is_exactly_that_some_request_is_allowed_now_and_was_not(old: Permissions, new: Permissions) -> None:
    for area, change in zip(AREAS, permission_changes(old, new), strict=True):
        mine = [request for entry in area.entries(new) for request in requests(area, entry)]
        theirs = [request for entry in area.entries(old) for request in requests(area, entry)]
        more = any(allows(area, new, request) and not allows(area, old, request) for request in mine)
        less = any(allows(area, old, request) and not allows(area, new, request) for request in theirs)
        expected = Trend.WIDENED if more else Trend.NARROWED if less else Trend.UNCHANGED
        assert change.trend is expected, (area.path, change)


@LAW
@given(PERMISSIONS)
def test_nothing_is_wider_than_itself(mine: Permissions) -> None:
    assert {change.trend for change in permission_changes(mine, mine)} == {Trend.UNCHANGED}


@pytest.mark.parametrize(
    ("old", "new", "trend"),
    [
        (["/a/**"], ["/a", "/a/*/**"], Trend.UNCHANGED),
        (["/a", "/a/*/**"], ["/a/**"], Trend.UNCHANGED),
        (["/a/*", "/a/*/*"], ["/a/**"], Trend.WIDENED),
        (["/**"], ["*"], Trend.UNCHANGED),
        (["/*", "/*/*/**"], ["*"], Trend.UNCHANGED),
        (["/*/*/**"], ["*"], Trend.WIDENED),
    ],
)
def test_topics_are_compared_by_what_they_match_together(old: list[str], new: list[str], trend: Trend) -> None:
    changes = permission_changes(Permissions(events=Events(tuple(old))), Permissions(events=Events(tuple(new))))
    assert changes[-1].trend is trend


@LAW
@given(PERMISSIONS, st.lists(st.sampled_from(["a.b", "c"]), unique=True).map(tuple))
def test_a_grant_is_read_back_as_it_was_written(mine: Permissions, names: tuple[str, ...]) -> None:
    grant = Grant(mine, names, Isolation.PROCESS, {"timeout_ms": 5}, "a", "b")
    assert Grant.read(grant.text()) == grant
    assert Grant.read(Grant(NOTHING, (), Isolation.PROCESS, {}, "", "").text()).permissions == NOTHING
