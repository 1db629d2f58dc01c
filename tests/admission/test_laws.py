"""Laws: what permissions have in common, and what becomes of a manifest that is changed at random."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evatui.kernel.admission.grants import AREAS, covers_glob, excess, intersect, unite
from evatui.kernel.admission.manifest import values_of
from evatui.kernel.admission.schema_files import schema_file
from evatui.kernel.admission.schema_shelf import Shelf
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.diagnostic import Level
from evatui.kernel.model.permissions import (
    NOTHING,
    Adapters,
    Events,
    Files,
    Network,
    Permissions,
    Shell,
    covers_path,
    covers_topic,
)
from evatui.kernel.workspace.layout import Layout
from tests.admission.harness import MANIFEST, NOTES, POLICY, TAKES, judge, policy_of, source

LAW = settings(max_examples=60, deadline=None)

PATHS = ["*", "a", "b", "a/x", "a/x/y", "a/xy", "ab"]
TOPICS = ["*", "/**", "/a", "/a/**", "/*/b", "/a/*", "/a/b", "/*/*", "/*", "/a/b/**", "/*/b/**", "/a/*/c"]
NAMES = ["*", "a", "a.b", "a.*", "*.b", "a.b.c", "a*", "b.b"]
COMMANDS = [("git",), ("git", "status"), ("git", "status", "-s"), ("ls",)]
HOSTS = ["*", "*.x.org", "a.x.org", "x.org", "*.a.x.org"]


def some(entries: Sequence[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(entries), max_size=3, unique=True).map(tuple)


PERMISSIONS = st.builds(
    Permissions,
    fs=st.builds(Files, some(PATHS), some(PATHS)),
    network=st.builds(Network, some(HOSTS), some(["GET", "POST", "*"])).map(
        lambda network: network if network.hosts and network.methods else Network()
    ),
    shell=st.builds(Shell, some(COMMANDS)),
    env=some(["A", "B", "*"]),
    adapters=st.builds(Adapters, some(NAMES), some(NAMES)),
    events=st.builds(Events, some(TOPICS)),
)


@LAW
@given(PERMISSIONS, PERMISSIONS)
def test_an_intersection_gives_nothing_beyond_either_side(left: Permissions, right: Permissions) -> None:
    both = intersect(left, right)
    assert not excess(both, left)
    assert not excess(both, right)


@LAW
@given(PERMISSIONS)
def test_an_intersection_with_itself_and_with_nothing(mine: Permissions) -> None:
    assert not excess(mine, intersect(mine, mine))
    assert intersect(mine, NOTHING) == intersect(NOTHING, mine) == NOTHING


@LAW
@given(PERMISSIONS, PERMISSIONS)
def test_what_is_granted_in_full_is_in_force_in_full(asked: Permissions, granted: Permissions) -> None:
    if not excess(asked, granted):
        assert not excess(asked, intersect(asked, granted))


@LAW
@given(PERMISSIONS, PERMISSIONS)
def test_a_union_gives_both_sides(left: Permissions, right: Permissions) -> None:
    both = unite([left, right])
    assert not excess(left, both)
    assert not excess(right, both)


@LAW
@given(some(PATHS), some(PATHS), st.sampled_from(PATHS[1:]))
def test_paths_in_common_are_exactly_those_of_both(left: Any, right: Any, path: str) -> None:
    both = intersect(Permissions(fs=Files(left)), Permissions(fs=Files(right))).fs.read
    assert _gives(covers_path, both, path) is (_gives(covers_path, left, path) and _gives(covers_path, right, path))


@LAW
@given(some(TOPICS), some(TOPICS), st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
def test_topics_in_common_are_exactly_those_of_both(left: Any, right: Any, segments: list[str]) -> None:
    topic = "/" + "/".join(segments)
    both = intersect(Permissions(events=Events(left)), Permissions(events=Events(right))).events.emit
    assert _gives(covers_topic, both, topic) is (
        _gives(covers_topic, left, topic) and _gives(covers_topic, right, topic)
    )


@LAW
@given(some(COMMANDS), some(COMMANDS), st.sampled_from(COMMANDS))
def test_commands_in_common_are_exactly_those_of_both(left: Any, right: Any, command: Any) -> None:
    area = next(area for area in AREAS if area.path == ("shell", "commands"))
    both = intersect(Permissions(shell=Shell(left)), Permissions(shell=Shell(right))).shell.commands
    expected = _gives(area.covers, left, command) and _gives(area.covers, right, command)
    assert _gives(area.covers, both, command) is expected


@LAW
@given(st.sampled_from(NAMES + HOSTS), st.sampled_from(NAMES + HOSTS), st.text("abx.org*", min_size=1, max_size=8))
def test_a_pattern_that_covers_another_matches_all_that_it_matches(wide: str, narrow: str, name: str) -> None:
    if covers_glob(wide, narrow) and "*" not in name and covers_glob(narrow, name):
        assert covers_glob(wide, name)


@pytest.mark.parametrize("area", AREAS, ids=[".".join(area.path) for area in AREAS])
def test_only_a_star_gives_a_star(area: Any) -> None:
    if area.path == ("shell", "commands"):
        return
    for entry in {*PATHS, *NAMES, *HOSTS, "/a/**", "/**"} - {"*"}:
        assert not area.covers(entry, "*")
    assert area.covers("*", "*")


def _gives(covers: Any, grants: Any, asked: Any) -> bool:
    return any(covers(grant, asked) for grant in grants)


JUNK = st.sampled_from(
    [None, True, False, 0, -1, 1.5, 10**15, "", "x", "*", "../x", [], {}, ["x"], [[]], {"x": 1}, "é\u202e"]
)


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at]
    if isinstance(value, dict):
        found += [place for key, child in value.items() for place in _places(child, (*at, key))]
    if isinstance(value, list):
        found += [place for index, child in enumerate(value) for place in _places(child, (*at, index))]
    return found


GOOD = yaml.safe_load(NOTES[MANIFEST])
PLACES = _places(GOOD)[1:]


def _mutated(at: tuple[Any, ...], how: str, junk: Any) -> Any:
    raw = copy.deepcopy(GOOD)
    inside = raw
    for step in at[:-1]:
        inside = inside[step]
    if how == "replace":
        inside[at[-1]] = junk
    elif how == "delete":
        del inside[at[-1]]
    elif isinstance(inside, dict):
        inside[f"{at[-1]}_"] = junk
    else:
        inside.append(junk)
    return raw


@given(st.sampled_from(PLACES), st.sampled_from(["replace", "delete", "add"]), JUNK)
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_mutated_manifest_is_refused_or_means_what_it_says(
    layout: Layout, at: tuple[Any, ...], how: str, junk: Any
) -> None:
    raw = _mutated(at, how, junk)
    verdict = judge({**NOTES, MANIFEST: yaml.safe_dump(raw, sort_keys=False, allow_unicode=True)}, layout)
    if isinstance(verdict, Candidate):
        assert _says(values_of(verdict.snapshot.document), raw)
        assert not excess(verdict.permissions, policy_of(NOTES).policy.granted(verdict.manifest).permissions)
        return
    for found in verdict.diagnostics:
        assert found.rendered.startswith(found.code)
        assert found.primary is not None
        assert found.primary.line >= 1
        assert "\u202e" not in found.rendered
        assert "Traceback" not in found.rendered


def _says(understood: Any, written: Any) -> bool:
    """Is everything that is written understood as it is written? Defaults may stand beside it."""
    if isinstance(written, dict):
        return all(key in understood and _says(understood[key], value) for key, value in written.items())
    if understood == ["*"] and written == "*":
        return True
    return type(understood) is type(written) and bool(understood == written)


PARTS = ["properties", "items", "$ref", "anyOf", "allOf", "oneOf", "not", "if", "then", "$defs", "dependentSchemas"]
MORE = [
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "prefixItems",
    "contains",
    "propertyNames",
]
NAMING = ["$anchor", "$dynamicRef", "$dynamicAnchor", "$schema", "$id", "dependencies"]
PLAIN = ["type", "pattern", "enum", "const", "minLength", "multipleOf", "required", "format"]
KEYWORDS = st.sampled_from(PARTS + MORE + NAMING + PLAIN)
ATOMS = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "a", "#", "#a", "#/$defs/a", "object", "(?=a)", "(a+)+$", "date-time"]
)
SCHEMAS = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYWORDS, inner, max_size=4)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    ),
    max_leaves=12,
)


@given(st.dictionaries(KEYWORDS, SCHEMAS, max_size=4), SCHEMAS)
@settings(max_examples=150, deadline=None)
def test_any_schema_is_refused_at_a_place_or_can_be_asked(schema: dict[str, Any], value: Any) -> None:
    compiled, found = schema_file(source(TAKES, json.dumps(schema)), TAKES, Shelf({}, {}), for_objects=True)
    if compiled is None:
        assert any(diagnostic.level is Level.ERROR and diagnostic.primary for diagnostic in found)
    else:
        compiled.check(value)
        compiled.empty_is_array("/a/0/b")


@pytest.mark.parametrize("path", [MANIFEST, TAKES, POLICY])
@given(st.binary(max_size=40), st.integers(0, 1500), st.integers(0, 40))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_bytes_thrown_at_a_file_never_break_the_judge(
    layout: Layout, path: str, junk: bytes, at: int, cut: int
) -> None:
    data = NOTES[path].encode()
    verdict = judge({**NOTES, path: data[:at] + junk + data[at + cut :]}, layout)
    if isinstance(verdict, Candidate):
        assert not excess(verdict.permissions, verdict.manifest.permissions)
    else:
        assert all(found.rendered for found in verdict.diagnostics)
