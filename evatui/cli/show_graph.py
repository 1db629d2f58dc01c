"""Who calls whom, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evatui.cli.screen import Screen
from evatui.cli.show import state_words

__all__ = ["show_graph"]


def show_graph(screen: Screen, data: Mapping[str, Any]) -> None:
    calls: dict[str, list[str]] = {}
    for edge in data["edges"]:
        calls.setdefault(edge["from"], []).append(f"{edge['to']} ({edge['name']})")
    nodes = {node["id"]: node for node in data["nodes"]}
    rows = [
        (state_words(nodes[key]["state"]), key, ", ".join(calls.get(key, ())), ", ".join(nodes[key]["dependents"]))
        for key in data["order"]
    ]
    screen.table(("STATE", "ID", "CALLS", "WOULD BE MISSED BY"), rows)
    for node in (node for node in data["nodes"] if "transport" in node):
        missed = f"  would be missed by {', '.join(node['dependents'])}" if node["dependents"] else ""
        screen.line(f"⇄ {node['id']}  {node['transport']}  {node['state']}{missed}")
    for path, users in data["modules"].items():
        screen.line(f"· {path} is part of {', '.join(users)}", "dim")
    for key, names in data["missing"].items():
        screen.line(f"! {key} calls {', '.join(names)}, which nobody provides", "yellow")
    for cycle in data["cycles"]:
        screen.line(f"✗ calls go round in a circle: {' → '.join((*cycle, cycle[0]))}", "red")
