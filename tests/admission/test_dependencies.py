"""Who calls whom: an order where there is one, every circle opened, and what nobody provides."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.admission.dependencies import graph_of
from evatui.kernel.admission.manifest import read_manifest
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.workspace.document import Document


def manifest(name: str, *calls: str, provides: str = "") -> Manifest:
    text = (
        f"id: {name}\nkind: lua_tool\nversion: 1.0.0\ncapabilities: [{provides or 'n.' + name}]\n"
        "lua: {script: a.lua}\ninput_schema: {}\noutput_schema: {}\n"
        f"permissions: {{adapters: {{capabilities: [{', '.join(repr(call) for call in calls)}]}}}}\n"
    )
    found = read_manifest(Document(text.encode(), "a.yaml")).manifest
    assert found is not None
    return found


def test_whoever_is_called_comes_first() -> None:
    graph = graph_of([manifest("a", "n.b"), manifest("b", "n.c"), manifest("c")])
    assert (graph.order, graph.cycles, graph.missing) == (("c", "b", "a"), (), {})
    assert [(edge.source, edge.name, edge.target) for edge in graph.edges] == [("a", "n.b", "b"), ("b", "n.c", "c")]


def test_a_circle_is_told_from_its_least_id_in_the_direction_of_its_calls() -> None:
    graph = graph_of([manifest("c", "n.a"), manifest("b", "n.c"), manifest("a", "n.b"), manifest("d", "n.a")])
    assert graph.cycles == (("a", "b", "c"),)
    assert graph.order.index("a") < graph.order.index("d")


def test_every_provider_of_a_name_counts_and_oneself_does_not() -> None:
    graph = graph_of([manifest("a", "x", provides="x"), manifest("b", provides="x"), manifest("c", "x")])
    assert [(edge.source, edge.target) for edge in graph.edges] == [("a", "b"), ("c", "a"), ("c", "b")]
    assert graph.cycles == ()


def test_patterns_are_no_dependencies_and_adapters_provide_too() -> None:
    graph = graph_of([manifest("a", "*", "n.*", "far.away", "nowhere")], {"far.away"})
    assert (graph.edges, graph.missing) == ((), {"a": ("nowhere",)})


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))))
def test_the_order_holds_but_for_the_circles(calls: Any) -> None:
    graph = graph_of([manifest(f"m{i}", *(f"n.m{b}" for a, b in sorted(calls) if a == i)) for i in range(8)])
    assert sorted(graph.order) == list(graph.nodes)
    wrong = {(e.source, e.target) for e in graph.edges if graph.order.index(e.target) > graph.order.index(e.source)}
    edges = {(edge.source, edge.target) for edge in graph.edges}
    for cycle in graph.cycles:
        around = set(zip(cycle, (*cycle[1:], cycle[0]), strict=True))
        assert around <= edges
        wrong -= around
    assert not wrong
