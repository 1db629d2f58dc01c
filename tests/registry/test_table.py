"""The table: whatever was published and withdrawn, names find their providers in the order of the rules."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.model.call import Actor, CallerType, CallRequest
from evatui.kernel.model.manifest import Kind, LuaSpec, Manifest
from evatui.kernel.registry.router import route
from evatui.kernel.registry.table import EMPTY_TABLE

NAMES = ("repo.summary", "repo.files", "text.greet")


def generation(key: str, priority: int, names: tuple[str, ...], kind: Kind) -> Any:
    manifest = Manifest(key, kind, "1.0.0", LuaSpec("a.lua"), {}, {}, priority=priority, capabilities=names)
    return cast(Any, SimpleNamespace(manifest=manifest, ailment=None))


changes = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.none()
        | st.tuples(
            st.integers(0, 100),
            st.lists(st.sampled_from(NAMES), unique=True).map(tuple),
            st.sampled_from([Kind.LUA_TOOL, Kind.LUA_MCP_HANDLER]),
        ),
    ),
    max_size=30,
)


@given(changes)
def test_a_table_that_grew_by_changes_is_the_one_that_its_members_make(changes: list[tuple[str, Any]]) -> None:
    table, members = EMPTY_TABLE, {}
    for key, what in changes:
        before, active, providers = table, dict(table.active), dict(table.providers)
        if what is None:
            members.pop(key, None)
            table = table.without(key)
        else:
            members[key] = generation(key, *what)
            table = table.with_active(members[key])
        assert (dict(before.active), dict(before.providers)) == (active, providers)
    assert dict(table.active) == members
    for name in NAMES:
        offering = [
            member.manifest
            for member in members.values()
            if name in member.manifest.capabilities and member.manifest.kind is Kind.LUA_TOOL
        ]
        expected = [m.id for m in sorted(offering, key=lambda m: (-m.priority, m.id))]
        assert list(table.providers.get(name, ())) == expected
        request = CallRequest(name, {}, Actor(CallerType.USER, "ann"))
        assert route(table, request) == (expected[0] if expected else None)


def test_who_is_unwell_comes_last_whatever_its_priority() -> None:
    first, second = (generation(key, priority, ("x",), Kind.LUA_TOOL) for key, priority in (("a", 90), ("b", 10)))
    table = EMPTY_TABLE.with_active(first).with_active(second)
    first.ailment = "told"
    assert table.sorted_anew("a").providers["x"] == ("b", "a")
    second.ailment = "told"
    assert table.sorted_anew("b").providers["x"] == ("a", "b")
