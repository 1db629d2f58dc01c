"""The manifest of a plugin: every field is read, and what does not fit is refused with its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.extensions.shared.manifest import Hook, McpServer, PluginManifest, Requires, read_manifest
from evatui.extensions.shared.manifest_rules import BLOCKED
from evatui.kernel.model.diagnostic import Diagnostic

WHOLE = {
    "name": "ring",
    "version": "1.2.0",
    "type": "tool",
    "description": "Rings a bell",
    "author": "A",
    "homepage": "https://example.org",
    "license": "MIT",
    "binary": "bin/ring",
    "tools": [
        {
            "name": "ring_bell",
            "description": "Rings",
            "input_schema": {"type": "object", "properties": {"times": {"type": "integer"}}},
            "entrypoint": "bin/bell",
            "env": ["BELL_HOST"],
            "risk": "high",
            "concurrency_class": "safe",
            "spawn_only": True,
            "spawn_only_message": "It rings.",
        },
        {"name": "hush", "concurrency_class": "whatever"},
    ],
    "sha256": "0" * 64,
    "timeout_secs": 20,
    "requires_network": True,
    "requires": {"bins": ["sh"], "env": ["BELL_HOST"], "os": ["darwin", "linux", "macos"]},
    "mcp_servers": [{"command": "serve", "args": ["a", "a"], "env": ["T"]}, {"url": "https://example.org/mcp"}],
    "hooks": [{"event": "before_tool_call", "command": ["./guard", "x", "x"], "tool_filter": ["plugin.*"]}],
    "prompts": {"include": ["prompts/*.md"]},
    "config_schema": {"type": "object"},
    "install": [{"kind": "brew", "formula": "bell"}],
    "binaries": {"linux-x86_64": {"url": "https://example.org/bell", "sha256": "1" * 64}},
}


def read(manifest: object) -> tuple[PluginManifest | None, tuple[Diagnostic, ...]]:
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    return read_manifest(text.encode(), "plugins/ring/manifest.json")


def test_every_field_is_read() -> None:
    found, problems = read(WHOLE)
    assert problems == ()
    assert found is not None
    plain = ("name", "version", "type", "description", "author", "homepage", "license", "binary", "sha256")
    assert [getattr(found, key) for key in plain] == [WHOLE[key] for key in plain]
    assert (found.timeout_s, found.requires_network, found.spawns) == (20, True, True)
    bell, hush = found.tools
    assert (bell.name, bell.entrypoint, bell.env, bell.by_hand, bell.exclusive) == (
        "ring_bell",
        "bin/bell",
        ("BELL_HOST",),
        True,
        False,
    )
    assert (bell.spawn_only, bell.spawn_only_message) == (True, "It rings.")
    assert [bool(bell.takes.check({"times": times})) for times in (1, "x")] == [False, True]
    assert (hush.exclusive, hush.by_hand, hush.takes.check({"any": 1})) == (True, False, [])
    assert found.requires == Requires(bins=("sh",), env=("BELL_HOST",), os=("macos", "linux"))
    assert found.mcp_servers == (
        McpServer(command=("serve", "a", "a"), env=("T",)),
        McpServer(url="https://example.org/mcp"),
    )
    assert found.hooks == (Hook(event="before_tool_call", command=("./guard", "x", "x"), tools=("plugin.*",)),)
    assert found.includes == ("prompts/*.md",)
    assert (found.config_schema, found.install[0]["formula"]) == ({"type": "object"}, "bell")
    assert found.binaries["linux-x86_64"]["url"] == "https://example.org/bell"


def test_id_is_another_word_for_name_and_what_is_absent_has_its_default() -> None:
    found, _ = read({"id": "ring"})
    assert found is not None
    assert (found.name, found.type, found.timeout_s, found.tools) == ("ring", "skill", 600, ())


@pytest.mark.parametrize(
    ("manifest", "code", "line", "says"),
    [
        ("", "EVA-831", 1, "no JSON"),
        ('{"name": "a", "name": "b"}', "EVA-831", 1, "twice"),
        ("[]", "EVA-833", 1, "a mapping"),
        ("{}", "EVA-833", 1, '"name" is missing'),
        ('{"name": "a",\n"id": "b"}', "EVA-833", 2, "different names"),
        ('{"name": "a/b"}', "EVA-833", 1, "a name of letters"),
        ('{"name": "a",\n"toolz": []}', "EVA-832", 2, '"toolz"'),
        ('{"name": "a", "sha256": ""}', "EVA-833", 1, "sha256"),
        ('{"name": "a", "type": "tool"}', "EVA-833", 1, "no tools"),
        ('{"name": "a", "type": "hook"}', "EVA-833", 1, "no hooks"),
        ('{"name": "a", "timeout_secs": 1801}', "EVA-833", 1, "timeout_secs"),
        (
            '{"name": "a",\n"tools": [{"name": "t"},\n{"name": "t", "risk": "medium"}]}',
            "EVA-833",
            3,
            "two tools are called t",
        ),
        ('{"name": "a", "tools": [{"name": 3}]}', "EVA-833", 1, "tools[0].name"),
        ('{"name": "a",\n"tools": [{"name": "t", "entrypoint": "../x"}]}', "EVA-833", 2, "../x"),
        ('{"name": "a",\n"tools": [{"name": "t",\n"env": ["LD_PRELOAD"]}]}', "EVA-833", 3, "LD_PRELOAD"),
        ('{"name": "a", "tools": [{"name": "t", "risk": "tiny"}]}', "EVA-833", 1, "tiny"),
        ('{"name": "a",\n"tools": [{"name": "t",\n"input_schema": {"type": "text"}}]}', "EVA-304", 3, "type"),
        ('{"name": "a",\n"tools": [{"name": "t",\n"input_schema": {}}]}', "EVA-833", 3, '"type": "object"'),
        ('{"name": "a", "hooks": [{"event": "before_lunch", "command": ["x"]}]}', "EVA-833", 1, "before_lunch"),
        ('{"name": "a", "hooks": [{"event": "on_resume", "command": []}]}', "EVA-833", 1, "1 to 64 words"),
        ('{"name": "a", "mcp_servers": [{}]}', "EVA-833", 1, "either a command or a url"),
        ('{"name": "a", "requires": {"os": ["beos"]}}', "EVA-833", 1, "beos"),
    ],
)
def test_what_does_not_fit_is_refused_at_its_place(manifest: str, code: str, line: int, says: str) -> None:
    found, problems = read(manifest)
    assert found is None
    assert (problems[0].code, problems[0].primary and problems[0].primary.line) == (code, line)
    assert says in problems[0].message
    assert f"plugins/ring/manifest.json:{line}" in problems[0].rendered


def test_all_that_is_wrong_is_told_at_once() -> None:
    found, problems = read({"name": "a", "timeout_secs": 0, "nonsense": 1, "tools": [{"risk": 3}]})
    assert (found, len(problems)) == (None, 4)


@pytest.mark.parametrize("name", sorted([*BLOCKED, "ld_anything", "PYTHONHOME", "eva_work_dir"]))
def test_no_plugin_is_given_a_variable_that_changes_what_runs(name: str) -> None:
    found, problems = read({"name": "a", "tools": [{"name": "t", "env": [name]}]})
    assert found is None
    assert name in problems[0].message


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*WHOLE, "event"]), inner),
        max_leaves=8,
    ),
    st.sampled_from([key for key in WHOLE if key != "name"]),
)
def test_whatever_stands_in_a_field_it_is_read_or_refused_with_a_place(value: object, key: str) -> None:
    found, problems = read({"name": "a", key: value})
    assert found is not None or all(one.primary is not None for one in problems)
    assert found is None or not any(one.level == "error" for one in problems)
    assert found is not None or problems
