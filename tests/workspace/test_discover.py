"""Which manifests and policies are found, and what is said about places that cannot be searched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evatui.kernel.workspace.discover import MAX_DEPTH, Discovery, discover
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import open_layout

from .conftest import Put


def look(root: Path) -> Discovery:
    tree = Tree(root)
    try:
        return discover(tree, open_layout(root))
    finally:
        tree.close()


def test_an_empty_workspace_holds_nothing(root: Path) -> None:
    assert look(root) == Discovery((), (), ())


def test_manifests_are_found_below_and_other_things_are_not(root: Path, put: Put) -> None:
    for path in ("b.yaml", "a.yml", "sub/deep/c.yaml", "tools/x.lua", "sub/policies/d.yaml", "README.md"):
        put(f"capabilities/{path}")
    for path in ("policies/p.yaml", "adapters/x.yaml", "examples/b/y.yaml", "extensions/skills/z.yaml"):
        put(f"capabilities/{path}")
    put("elsewhere.yaml")
    found = look(root)
    assert found.manifests == (
        "capabilities/a.yml",
        "capabilities/b.yaml",
        "capabilities/sub/deep/c.yaml",
        "capabilities/sub/policies/d.yaml",
    )
    assert found.policies == ("capabilities/policies/p.yaml",)
    assert found.problems == ()


def test_what_editors_leave_is_no_manifest(root: Path, put: Put) -> None:
    for name in (".hidden.yaml", "#a.yaml#", "a.yaml~", ".a.yaml.swp", "4913", "a.yaml.tmp", "a.yaml___jb_tmp___"):
        put(f"capabilities/{name}")
    put("capabilities/.git/a.yaml")
    put("capabilities/kept.yaml")
    put("capabilities/policies/.p.yaml.swp")
    assert look(root) == Discovery(("capabilities/kept.yaml",), (), ())


def test_links_are_followed_inside_and_circles_end(root: Path, put: Put) -> None:
    put("capabilities/..2026/a.yaml")
    (root / "capabilities" / "..data").symlink_to("..2026")
    (root / "capabilities" / "a.yaml").symlink_to("..data/a.yaml")
    put("shared/b.yaml")
    (root / "capabilities" / "shared").symlink_to("../shared")
    (root / "capabilities" / "round").symlink_to(".")
    assert look(root).manifests == ("capabilities/a.yaml", "capabilities/shared/b.yaml")


def test_a_link_that_leads_out_is_listed_so_that_its_reading_tells(root: Path, put: Put, tmp_path: Path) -> None:
    put("capabilities/a.yaml")
    (tmp_path / "out.yaml").write_text("")
    (root / "capabilities" / "out.yaml").symlink_to(tmp_path / "out.yaml")
    (root / "capabilities" / "etc").symlink_to("/etc")
    assert look(root).manifests == ("capabilities/a.yaml", "capabilities/out.yaml")


def test_what_lies_too_deep_is_told(root: Path, put: Put) -> None:
    deepest = "capabilities" + "/d" * (MAX_DEPTH - 1)
    put(f"{deepest}/in.yaml")
    put(f"{deepest}/d/too-deep.yaml")
    found = look(root)
    assert found.manifests == (f"{deepest}/in.yaml",)
    assert [(problem.code, problem.spans[0].file) for problem in found.problems] == [("EVA-117", f"{deepest}/d")]


def test_a_folder_that_is_a_file_is_told(root: Path, put: Put) -> None:
    put("capabilities", "not a folder")
    (problem,) = look(root).problems
    assert problem.code == "EVA-116"


def test_names_that_cannot_be_shown_are_left_out_and_told(root: Path, put: Put) -> None:
    put("capabilities/a.yaml")
    os.close(os.open(os.fsencode(root) + b"/capabilities/\xff.yaml", os.O_CREAT | os.O_WRONLY))
    put("capabilities/b\x1b[31m.yaml")
    put("capabilities/tools/c\x1b.lua")
    put("capabilities/d\u202e/x.yaml")
    found = look(root)
    assert found.manifests == ("capabilities/a.yaml",)
    (problem,) = found.problems
    assert (problem.code, problem.spans[0].file) == ("EVA-123", "capabilities")
    assert problem.message == "capabilities holds b\u241b[31m.yaml and 2 more, which is not read"


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="there is no other user to be")
def test_an_unreadable_folder_is_told_and_the_rest_goes_on(open_to_all: Path, as_nobody: None) -> None:
    found = look(open_to_all)
    assert found.manifests == ("capabilities/a.yaml",)
    assert [(problem.code, problem.spans[0].file) for problem in found.problems] == [("EVA-116", "capabilities/locked")]


def test_names_that_are_one_file_on_other_machines_are_told(root: Path, put: Put) -> None:
    put("capabilities/Greet.yaml")
    put("capabilities/greet.yaml")
    put("capabilities/caf\u00e9.yaml")
    put("capabilities/cafe\u0301.yaml")
    found = look(root)
    assert [(problem.code, problem.level.value) for problem in found.problems] == [("EVA-124", "warning")] * 2
    assert len(found.manifests) == 4
