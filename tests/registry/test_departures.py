"""When all leave, whoever calls others leaves before them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.model.manifest import Kind, LuaSpec, Manifest
from evatui.kernel.model.permissions import Adapters, Permissions
from evatui.kernel.registry.departures import departures
from evatui.kernel.registry.table import EMPTY_TABLE, Table

KEYS = "abcdef"


def table(calls: dict[str, list[str]]) -> Table:
    made = EMPTY_TABLE
    for key, names in calls.items():
        permissions = Permissions(adapters=Adapters(capabilities=tuple(names)))
        manifest = Manifest(
            key, Kind.LUA_TOOL, "1.0.0", LuaSpec("a.lua"), {}, {}, capabilities=(f"n.{key}",), permissions=permissions
        )
        made = made.with_active(cast(Any, SimpleNamespace(manifest=manifest, ailment=None)))
    return made


@given(st.permutations(KEYS), st.data())
def test_nobody_is_called_by_one_that_leaves_later(order: list[str], data: st.DataObject) -> None:
    calls = {
        key: [f"n.{other}" for other in data.draw(st.lists(st.sampled_from(order[place + 1 :]), unique=True))]
        if place + 1 < len(order)
        else []
        for place, key in enumerate(order)
    }
    groups = list(departures(table(calls)))
    assert sorted(key for group in groups for key in group) == sorted(KEYS)
    leaves = {key: place for place, group in enumerate(groups) for key in group}
    for key, names in calls.items():
        assert all(leaves[key] < leaves[name[2:]] for name in names)


def test_those_that_call_each_other_leave_together_and_whom_they_call_later() -> None:
    assert list(departures(table({"a": ["n.b"], "b": ["n.a"], "c": []}))) == [("a", "b", "c")]
    assert list(departures(table({"a": ["n.b"], "b": ["n.a", "n.c"], "c": ["n.d"], "d": []}))) == [
        ("a", "b"),
        ("c",),
        ("d",),
    ]
    assert list(departures(EMPTY_TABLE)) == []


def test_a_pattern_calls_all_that_it_covers() -> None:
    assert list(departures(table({"a": [], "b": ["n.*"], "c": []}))) == [("b",), ("a", "c")]
    assert list(departures(table({"a": [], "b": ["n.*"], "c": ["n.*"], "d": []}))) == [("b", "c"), ("a", "d")]
    assert list(departures(table({"a": ["n.b"], "b": ["*"], "c": ["none.*", "nobody"]}))) == [("a", "b"), ("c",)]


def test_a_long_chain_is_followed_to_its_end() -> None:
    chain = {f"c{n:05}": [f"n.c{n + 1:05}"] for n in range(1200)}
    assert list(departures(table(chain))) == [(key,) for key in chain]
