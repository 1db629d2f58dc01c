"""Plugins on disk: which are found, which of one name counts, which program is run, and why one is refused."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

import pytest

from evatui.extensions.plugins.catalogue import PluginCatalogue, Rules
from evatui.extensions.plugins.layers import plugin_layers
from evatui.extensions.plugins.package import PackedFile
from evatui.extensions.plugins.plugins import Plugins
from evatui.extensions.plugins.program import search
from evatui.extensions.plugins.verified import Verified
from evatui.extensions.shared.local import UserLocal
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import open_layout
from tests.soak.swapped import swaps
from tests.support.plugins import plugin, program
from tests.support.workspaces import write

ALLOWED = Rules(local=UserLocal(True))


def plugins(root: Path, rules: Rules = ALLOWED, lasting: bool = False) -> Plugins:
    home = OperatorHome(root / "home", data=root / "data")
    verified = Verified(root / "verified")
    layers = plugin_layers(open_layout(root), home)
    environment = {"PATH": os.environ["PATH"], "SET": "1"}
    return Plugins(layers, lambda: rules, environment, verified, lambda *said: None, lasting=lasting)


def look(root: Path, rules: Rules = ALLOWED) -> PluginCatalogue:
    return asyncio.run(plugins(root, rules).look())


def codes(known: PluginCatalogue) -> list[tuple[str, str]]:
    return [(one.found.location, one.found.diagnostics[0].code) for one in known.refused]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, {"eva.yaml": "version: 1\n", "capabilities/.keep": ""})
    return tmp_path


def test_the_higher_layer_counts_and_what_is_shadowed_is_shown(root: Path) -> None:
    for layer in ("data/plugins", "plugins", "capabilities/extensions/plugins"):
        plugin(root, "ring", "true", layer=layer)
    plugin(root, "pack", "true", layer="skills")
    write(root, {"skills/pack/SKILL.md": "---\nname: pack\ndescription: D\n---\n", "skills/other/manifest.json": "{"})
    known = look(root)
    assert [(one.name, one.plugin.location) for one in known.plugins] == [
        ("pack", "skills/pack"),
        ("ring", "<user data>/plugins/ring"),
    ]
    shadows = ["plugins/ring", "capabilities/extensions/plugins/ring"]
    assert [one.location for one in known.plugins[1].shadows] == shadows
    assert codes(known) == []
    known = look(root, Rules())
    assert [one.location for one in known.plugins[1].shadows] == [shadows[1], "<user data>/plugins/ring"]


def test_a_bad_one_stops_no_other_and_is_told_with_its_reason(root: Path) -> None:
    plugin(root, "good", "true")
    write(
        root,
        {
            "plugins/bad/manifest.json": "{",
            "plugins/empty/readme": "",
            "plugins/extra/manifest.json": '{"name": "extra"}',
        },
    )
    plugin(root, "none", "")
    linked = plugin(root, "linked", "true")
    (linked / "main").symlink_to("/bin/sh")
    pipe = plugin(root, "pipe", "true")
    os.mkfifo(pipe / "fifo")
    plugin(root, "entry", "true", {"name": "go", "entrypoint": "bin/missing"})
    plugin(root, "wrong", "true", sha256="0" * 64)
    right = plugin(root, "right", "true")
    plugin(root, "right", "", sha256=hashlib.sha256((right / "right").read_bytes()).hexdigest())
    known = look(root)
    assert [one.name for one in known.plugins] == ["extra", "good", "right"]
    assert codes(known) == [
        ("plugins/bad", "EVA-831"),
        ("plugins/entry", "EVA-834"),
        ("plugins/linked", "EVA-835"),
        ("plugins/none", "EVA-834"),
        ("plugins/pipe", "EVA-835"),
        ("plugins/wrong", "EVA-836"),
    ]
    assert "plugins/linked/main" in known.refused[2].found.diagnostics[0].message
    assert [one.message for one in known.problems] == ["plugins/empty holds no manifest.json"]


@pytest.mark.parametrize(
    ("names", "first"),
    [
        (("zz", "folder", "main", "ring"), "ring"),
        (("zz", "folder", "main"), "folder"),
        (("zz", "main"), "main"),
        (("zz", "aa"), "aa"),
        ((".hidden", "a.json", "a.md", "a.toml", "a.tar.gz", "sub/main"), None),
    ],
)
def test_the_program_is_searched_for_in_the_order_of_the_source(names: tuple[str, ...], first: str | None) -> None:
    files = {name: PackedFile(name, "0" * 64, 1, True) for name in names}
    found = next(search("ring", "folder", files), None)
    assert (found.path if found else None) == first
    assert next(search("ring", "folder", {n: PackedFile(n, "0" * 64, 1, False) for n in names}), None) is None


def test_a_file_has_a_hundred_million_bytes_and_no_more(root: Path) -> None:
    for name, size in (("large", 100_000_000), ("larger", 100_000_001)):
        folder = plugin(root, name, "true")
        os.truncate(folder / name, size)
    known = look(root)
    assert [one.plugin.files["large"].size for one in known.plugins] == [100_000_000]
    (refused,) = known.refused
    assert refused.found.diagnostics[0].code == "EVA-835"
    assert "larger/larger cannot be taken: it has more than 100,000,000 bytes" in refused.found.diagnostics[0].message


def test_what_it_needs_and_is_not_there_is_told_in_words(root: Path) -> None:
    requires = {"bins": ["sh", "no-such-program"], "env": ["SET", "NOT_SET"], "os": ["linux", "darwin", "windows"]}
    plugin(root, "needy", "true", requires=requires)
    plugin(root, "foreign", "true", requires={"os": ["windows"]})
    foreign, needy = look(root).plugins
    assert needy.missing == ("binary 'no-such-program' not found on PATH", "env var 'NOT_SET' is not set")
    assert (needy.reason, needy.available) == ("missing", False)
    assert foreign.missing[0].startswith("current OS '")
    assert "not in allowed list [windows]" in foreign.missing[0]


def test_a_policy_that_wants_signatures_refuses_what_has_none(root: Path) -> None:
    plugin(root, "ring", "true")
    write(root, {"plugins/extra/manifest.json": '{"name": "extra", "prompts": {"include": ["*.md"]}}'})
    known = look(root, Rules(require_signed=True))
    assert [(one.name, one.reason, one.diagnostics[0].code) for one in known.plugins] == [
        ("extra", "signature_invalid", "EVA-838"),
        ("ring", "signature_invalid", "EVA-838"),
    ]


def test_the_copy_is_made_once_read_only_and_only_of_what_is_part_of_it(root: Path) -> None:
    folder = plugin(root, "ring", "true")
    write(
        root, {"plugins/ring/lib/a.txt": "a", "plugins/ring/.git/config": "no", "plugins/ring/__pycache__/x.pyc": "no"}
    )
    found = plugins(root, lasting=True)
    (one,) = asyncio.run(found.look()).plugins
    copy = root / "verified" / one.plugin.digest
    files = sorted(path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file())
    assert files == ["lib/a.txt", "manifest.json", "ring"]
    assert [oct((copy / name).stat().st_mode & 0o777) for name in ("lib", "lib/a.txt", "ring")] == [
        "0o555",
        "0o444",
        "0o555",
    ]
    made = copy.stat().st_ino
    assert asyncio.run(found.look()).plugins[0].plugin.digest == one.plugin.digest
    assert copy.stat().st_ino == made
    program(folder / "ring", "false")
    (other,) = asyncio.run(found.look()).plugins
    assert [entry.name for entry in (root / "verified").iterdir()] == [other.plugin.digest]


def test_a_program_that_is_swapped_all_the_time_never_runs_unhashed(root: Path) -> None:
    assert asyncio.run(swaps(root, 8)) == []


def test_a_server_that_is_no_executable_file_of_the_plugin_refuses_it(root: Path) -> None:
    for name, command in (("climbs", "../other/serve"), ("gone", "./nothing"), ("plain", "./manifest.json")):
        plugin(root, name, "true", mcp_servers=[{"command": command}])
    plugin(root, "sound", "true", mcp_servers=[{"command": "./sound"}, {"command": "nothing-like-it"}])
    known = look(root)
    assert codes(known) == [(f"plugins/{name}", "EVA-834") for name in ("climbs", "gone", "plain")]
    assert [one.name for one in known.plugins] == ["sound"]
