"""Where a workspace is, what eva.yaml may say, and what a person reads when it cannot be opened."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from evatui.kernel.workspace.codes import READING_CODES
from evatui.kernel.workspace.layout import WorkspaceError, find_workspace, open_layout
from evatui.kernel.workspace.settings import AuditMode, Polling, RuntimeMode

from .conftest import Put

DEFAULTS = """\
version: 1
roots: {workspace: .}
layout: {manifests: [capabilities], scripts: [capabilities], schemas: [schemas], policies: [capabilities/policies], \
adapters: [capabilities/adapters], skills: [skills, bundled-app-skills, capabilities/extensions/skills], \
plugins: [plugins, capabilities/extensions/plugins]}
runtime: {mode: normal, hot_reload: true, max_live_generations: 3, shutdown_timeout_ms: 15000, health_interval_s: 30}
watch: {debounce_ms: 50, rescan_s: 30, polling: auto}
audit: {mode: write, rotate_bytes: 8388608, keep_files: 16}
mcp_server: {bind: 127.0.0.1:8765, allowed_origins: [], allowed_hosts: []}
"""


def refused(root: Path) -> WorkspaceError:
    with pytest.raises(WorkspaceError) as caught:
        open_layout(root)
    return caught.value


def complaint(root: Path, put: Put, text: str) -> tuple[str, str, int, int]:
    put("eva.yaml", text)
    (diagnostic,) = refused(root).diagnostics
    assert diagnostic.primary is not None
    assert diagnostic.primary.file == "eva.yaml"
    return diagnostic.code, diagnostic.message, diagnostic.primary.line, diagnostic.primary.column


def test_a_folder_without_settings_is_a_workspace(root: Path) -> None:
    layout = open_layout(root)
    assert (layout.root, layout.name) == (root.resolve(), "ws")
    assert layout.state_dir == root.resolve() / ".eva"
    assert layout.settings_file is None
    assert list(root.iterdir()) == [], "looking writes nothing"


def test_the_written_defaults_are_the_defaults(root: Path, put: Put) -> None:
    bare = open_layout(root)
    put("eva.yaml", DEFAULTS)
    assert open_layout(root) == dataclasses.replace(bare, settings_file="eva.yaml")


@pytest.mark.parametrize("text", ["", "# nothing\n", "version: 1\nruntime:\nwatch: {}\naudit: {mode: }\n"])
def test_what_is_not_said_keeps_its_default(root: Path, put: Put, text: str) -> None:
    bare = open_layout(root)
    put("eva.yaml", text)
    assert open_layout(root) == dataclasses.replace(bare, settings_file="eva.yaml")


def test_what_is_said_holds(root: Path, put: Put) -> None:
    put(
        "eva.yaml",
        "roots: {docs: ./docs/}\nlayout: {scripts: [lua, capabilities]}\nruntime: {mode: ralph, hot_reload: false}\n"
        "watch: {polling: true, rescan_s: 5}\naudit: {mode: durable}\nmcp_server: {bind: '[::1]:0'}\n",
    )
    layout = open_layout(root)
    assert layout.roots == {"workspace": ".", "docs": "docs"}
    assert layout.scripts == ("lua", "capabilities")
    assert layout.manifests == ("capabilities",)
    assert (layout.runtime.mode, layout.runtime.hot_reload) == (RuntimeMode.RALPH, False)
    assert (layout.watch.polling, layout.watch.rescan_s, layout.watch.debounce_ms) == (Polling.ALWAYS, 5, 50)
    assert layout.audit.mode is AuditMode.DURABLE
    assert layout.mcp_server.bind == "[::1]:0"


def test_the_state_folder_may_lie_elsewhere(root: Path, tmp_path: Path) -> None:
    assert open_layout(root, tmp_path / "state").state_dir == tmp_path / "state"


def test_an_unknown_key_offers_the_near_one(root: Path, put: Put) -> None:
    code, message, line, column = complaint(root, put, "version: 1\nwatch:\n  debounce: 5\n")
    assert (code, line, column) == ("EVA-121", 3, 3)
    assert "watch.debounce" in message
    assert "did you mean debounce_ms?" in message


@pytest.mark.parametrize(
    ("text", "line", "column", "word"),
    [
        ("version: 2\n", 1, 10, "version"),
        ("version: true\n", 1, 10, "version"),
        ("- a\n", 1, 1, "eva.yaml must be a mapping"),
        ("watch: [1]\n", 1, 8, "watch"),
        ("watch: {debounce_ms: 0}\n", 1, 22, "from 1 to"),
        ("watch: {debounce_ms: 5.5}\n", 1, 22, "whole number"),
        ("watch: {debounce_ms: true}\n", 1, 22, "whole number"),
        ("watch: {polling: sometimes}\n", 1, 18, "auto, true or false"),
        ("runtime: {mode: party}\n", 1, 17, "normal, team, swarm, ralph, maintenance"),
        ("runtime: {hot_reload: yes}\n", 1, 23, "true or false"),
        ("audit: {rotate_bytes: 10}\n", 1, 23, "rotate_bytes"),
        ("layout: {scripts: capabilities}\n", 1, 19, "a list of folders"),
        ("layout:\n  scripts:\n    - ../x\n", 3, 7, "upwards"),
        ("layout: {scripts: [/etc]}\n", 1, 20, "relative"),
        ("layout: {scripts: [1]}\n", 1, 20, "quotes"),
        ("roots: {'a b': x}\n", 1, 9, "letters"),
        ("roots: {a: ..}\n", 1, 12, "upwards"),
        ("mcp_server: {bind: localhost}\n", 1, 20, "port"),
        ("mcp_server: {bind: 'h:99999'}\n", 1, 20, "port"),
    ],
)
def test_a_value_that_does_not_fit_is_named_at_its_place(
    root: Path, put: Put, text: str, line: int, column: int, word: str
) -> None:
    code, message, at_line, at_column = complaint(root, put, text)
    assert (code, at_line, at_column) == ("EVA-122", line, column)
    assert word in message


def test_everything_wrong_is_told_at_once(root: Path, put: Put) -> None:
    put("eva.yaml", "versoin: 1\nwatch: {rescan_s: -1, polling: 7}\n")
    error = refused(root)
    assert [diagnostic.code for diagnostic in error.diagnostics] == ["EVA-121", "EVA-122", "EVA-122"]
    assert error.message.startswith("eva.yaml:1:1: ")
    assert "(and 2 more)" in error.message


def test_broken_yaml_says_where(root: Path, put: Put) -> None:
    put("eva.yaml", "version: 1\nwatch: {a\n")
    error = refused(root)
    assert error.diagnostics[0].code == "EVA-101"
    assert error.message.startswith("eva.yaml:2:8: ")


def test_settings_that_are_a_folder_or_lead_out_are_refused(root: Path, tmp_path: Path) -> None:
    (root / "eva.yaml").mkdir()
    assert refused(root).diagnostics[0].code == "EVA-113"
    (root / "eva.yaml").rmdir()
    (tmp_path / "elsewhere.yaml").write_text("version: 1\n")
    (root / "eva.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert refused(root).diagnostics[0].code == "EVA-114"


def test_a_missing_workspace_says_what_to_do(tmp_path: Path) -> None:
    error = refused(tmp_path / "nowhere")
    assert error.diagnostics[0].code == "EVA-120"
    assert "there is no folder" in error.message
    assert "eva init" in error.message


def test_a_file_is_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is not a folder" in refused(tmp_path / "file").message


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="there is no other user to be")
def test_an_unreadable_workspace_says_so(open_to_all: Path, as_nobody: None) -> None:
    error = refused(open_to_all / "capabilities" / "locked")
    assert "cannot be read" in error.message
    assert "Give the user" in error.message


def test_the_nearest_workspace_upward_is_found(root: Path, put: Put, tmp_path: Path) -> None:
    assert find_workspace(root / "a") is None
    put("eva.yaml")
    put("a/b/c.txt")
    assert find_workspace(root / "a" / "b") == root
    put("a/capabilities/x.yaml")
    assert find_workspace(root / "a" / "b") == root / "a"
    assert find_workspace(root / "a" / "capabilities") == root / "a"


def test_the_other_layout_is_recognised_as_it_is(root: Path, put: Put) -> None:
    put("config/eva.yaml", "runtime: {mode: team}\n")
    put("config/capabilities/a.yaml")
    put("config/tools/a.lua")
    layout = open_layout(root)
    assert layout.settings_file == "config/eva.yaml"
    assert layout.runtime.mode is RuntimeMode.TEAM
    assert layout.manifests == ("config/capabilities",)
    assert "config/tools" in layout.scripts
    assert layout.policies == ("config/policies",)
    assert layout.schemas == ("schemas",)
    for inside in ("config", "config/tools", "config/capabilities"):
        assert find_workspace(root / inside) == root, inside


def test_the_ordinary_layout_wins_where_both_are(root: Path, put: Put) -> None:
    put("config/capabilities/a.yaml")
    assert open_layout(root).manifests == ("config/capabilities",)
    put("capabilities/a.yaml")
    assert open_layout(root).manifests == ("capabilities",)


def test_every_code_says_why_and_how_to_fix_it() -> None:
    for code, entry in READING_CODES.items():
        assert code == entry.code
        assert code.startswith("EVA-1")
        assert entry.why.endswith(".")
        assert entry.fix
