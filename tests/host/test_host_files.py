"""Files through the host: what a grant gives can be read, and no way leads to anything else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evatui.kernel.host.secluded import Secluded
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import open_layout
from tests.host.ground import Ground, asked, granting

DENIED = ErrorKind.POLICY_DENIED


@pytest.fixture(autouse=True)
def grant_all(ground: Ground) -> None:
    ground.permissions = granting("workspace")


async def test_a_granted_file_is_read(ground: Ground) -> None:
    ground.write("docs/a.md", "héllo")
    assert await ground.ask("fs_read_text", {"path": "docs/a.md"}) == "héllo"
    assert await ground.ask("fs_read_text", {"path": "./docs//a.md", "root": "workspace"}) == "héllo"


async def test_without_a_grant_nothing_is_read_and_nothing_is_learnt(ground: Ground) -> None:
    ground.write("there.md")
    ground.permissions = granting()
    there = await ground.refusal("fs_read_text", {"path": "there.md"})
    missing = await ground.refusal("fs_read_text", {"path": "none.md"})
    assert there[0] is missing[0] is DENIED
    assert there[1].replace("there", "none") == missing[1]


@pytest.mark.parametrize(
    ("grants", "path", "given"),
    [
        (("*",), "docs/a.md", True),
        (("workspace/docs",), "docs/a.md", True),
        (("workspace/docs/",), "docs/a.md", True),
        (("workspace/docs/a.md",), "docs/a.md", True),
        (("workspace/doc",), "docs/a.md", False),
        (("workspace/docs/a",), "docs/a.md", False),
        (("other",), "docs/a.md", False),
        (("workspace/docs",), "docs2/a.md", False),
    ],
)
async def test_a_grant_covers_what_it_names(ground: Ground, grants: tuple[str, ...], path: str, given: bool) -> None:
    ground.write(path)
    ground.permissions = granting(*grants)
    if given:
        assert await ground.ask("fs_read_text", {"path": path}) == "text"
    else:
        assert (await ground.refusal("fs_read_text", {"path": path}))[0] is DENIED


async def test_a_policy_that_narrows_counts_at_the_next_call(ground: Ground) -> None:
    ground.write("a.md")
    bound = ground.bind()
    assert await asked(bound, "fs_read_text", {"path": "a.md"}) == "text"
    ground.permissions = granting("workspace/docs")
    with pytest.raises(Exception, match="not granted"):
        await asked(bound, "fs_read_text", {"path": "a.md"})


SECLUDED = [
    ".eva/state.db",
    ".git/config",
    "sub/.git/config",
    "SKILL.md",
    "skills/x/Skill.MD",
    ".env",
    ".env.local",
    ".ENV",
    ".env/SECRET",
    "certs/server.pem",
    "certs/SERVER.KEY",
    "id_rsa",
    "home/.ssh/id_ed25519.pub",
    "capabilities/policies/default.yaml",
    "Capabilities/Policies/default.yaml",
    "capabilities/adapters/github.yaml",
]


@pytest.mark.parametrize("path", SECLUDED)
async def test_what_is_secluded_is_refused_whatever_the_grant(ground: Ground, path: str) -> None:
    ground.permissions = granting("*", f"workspace/{path}")
    missing = await ground.refusal("fs_read_text", {"path": path})
    ground.write(path, "secret")
    for name in ("fs_read_text", "fs_read_json"):
        kind, message = await ground.refusal(name, {"path": path})
        assert kind is DENIED
        assert "whatever the grant" in message
    assert missing[0] is DENIED


@pytest.mark.parametrize(
    "path", [".env.", ".env ", ".env::$DATA", "SKILL.md.", "ſkill.md", "a/../.env", "./.git//config"]
)
async def test_other_spellings_of_secluded_names_are_refused(ground: Ground, path: str) -> None:
    assert (await ground.refusal("fs_read_text", {"path": path}))[0] is DENIED


@pytest.mark.parametrize("path", ["src/env.py", "environment.md", "identity.md", "monkey.txt", "gitignore", "key.md"])
async def test_names_that_only_look_alike_are_read(ground: Ground, path: str) -> None:
    ground.write(path)
    assert await ground.ask("fs_read_text", {"path": path}) == "text"


@pytest.mark.parametrize("path", SECLUDED)
async def test_a_link_to_what_is_secluded_is_refused(ground: Ground, path: str) -> None:
    ground.write(path, "secret")
    (ground.root / "innocent.txt").symlink_to(path)
    assert (await ground.refusal("fs_read_text", {"path": "innocent.txt"}))[0] is DENIED


async def test_a_link_to_a_secluded_folder_is_refused(ground: Ground) -> None:
    ground.write(".git/config", "secret")
    (ground.root / "g").symlink_to(".git")
    assert (await ground.refusal("fs_read_text", {"path": "g/config"}))[0] is DENIED
    assert (await ground.refusal("fs_list", {"path": "g"}))[0] is DENIED


async def test_a_hard_link_to_what_is_secluded_is_refused(ground: Ground) -> None:
    os.link(ground.write(".env", "SECRET=1"), ground.root / "innocent.txt")
    kind, message = await ground.refusal("fs_read_text", {"path": "innocent.txt"})
    assert kind is DENIED
    assert "hard link" in message


async def test_policies_that_are_a_link_are_secluded_where_they_really_lie(open_ground: Callable[[], Ground]) -> None:
    ground = open_ground()
    ground.permissions = granting("*")
    ground.write("shared/policies/default.yaml", "version: 1")
    (ground.root / "capabilities/policies").symlink_to("../shared/policies")
    assert (await ground.refusal("fs_read_text", {"path": "shared/policies/default.yaml"}))[0] is DENIED


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../outside.txt", "docs/../../outside.txt", "~/x", "..", "a/..", "a\\b"]
)
async def test_no_path_leads_out_of_the_workspace(ground: Ground, path: str) -> None:
    (ground.root.parent / "outside.txt").write_text("secret")
    assert (await ground.refusal("fs_read_text", {"path": path}))[0] is DENIED
    assert (await ground.refusal("fs_list", {"path": path}))[0] is DENIED


@pytest.mark.parametrize("absolute", [True, False])
async def test_no_link_leads_out_of_the_workspace(ground: Ground, absolute: bool) -> None:
    outside = ground.root.parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("secret")
    (ground.root / "link").symlink_to(outside if absolute else "../outside")
    assert (await ground.refusal("fs_read_text", {"path": "link/a.txt"}))[0] is DENIED
    assert (await ground.refusal("fs_list", {"path": "link"}))[0] is DENIED


async def test_a_link_out_of_the_granted_part_is_refused_and_one_within_is_followed(ground: Ground) -> None:
    ground.write("private/a.md", "secret")
    ground.write("docs/real.md", "open")
    (ground.root / "docs/out.md").symlink_to("../private/a.md")
    (ground.root / "docs/in.md").symlink_to("real.md")
    (ground.root / "private/in.md").symlink_to("../docs/real.md")
    ground.permissions = granting("workspace/docs")
    assert await ground.ask("fs_read_text", {"path": "docs/in.md"}) == "open"
    assert (await ground.refusal("fs_read_text", {"path": "docs/out.md"}))[0] is DENIED
    assert (await ground.refusal("fs_read_text", {"path": "private/in.md"}))[0] is DENIED


async def test_a_root_is_a_folder_of_its_own(open_ground: Callable[[], Ground], ground: Ground) -> None:
    ground.write("eva.yaml", "roots: {workspace: ., notes: shared/notes}\n")
    ground.write("shared/notes/a.md", "note")
    ground.write("shared/b.md", "not a note")
    (ground.root / "shared/notes/out.md").symlink_to("../b.md")
    ground = open_ground()
    ground.permissions = granting("notes")
    assert await ground.ask("fs_read_text", {"path": "a.md", "root": "notes"}) == "note"
    assert [entry["path"] for entry in await ground.ask("fs_list", {"path": ".", "root": "notes"})] == [
        "a.md",
        "out.md",
    ]
    assert (await ground.refusal("fs_read_text", {"path": "out.md", "root": "notes"}))[0] is DENIED
    assert (await ground.refusal("fs_read_text", {"path": "shared/notes/a.md"}))[0] is DENIED
    assert (await ground.refusal("fs_read_text", {"path": "a.md", "root": "secrets"}))[0] is ErrorKind.NOT_FOUND


def test_a_state_folder_elsewhere_in_the_workspace_is_secluded(tmp_path: Path) -> None:
    (tmp_path / "var/state").mkdir(parents=True)
    tree = Tree(tmp_path)
    secluded = Secluded(tree, open_layout(tmp_path, tmp_path / "var/state"))
    assert secluded.covers("var/state/state.db")
    assert not secluded.covers("var/other")
    tree.close()


async def test_a_pipe_does_not_hang(ground: Ground) -> None:
    os.mkfifo(ground.root / "pipe")
    kind, message = await ground.refusal("fs_read_text", {"path": "pipe"})
    assert kind is ErrorKind.INVALID_INPUT
    assert "pipe" in message


async def test_a_folder_and_a_missing_file_are_told_apart(ground: Ground) -> None:
    ground.write("docs/a.md")
    assert (await ground.refusal("fs_read_text", {"path": "docs"}))[0] is ErrorKind.INVALID_INPUT
    assert (await ground.refusal("fs_list", {"path": "docs/a.md"}))[0] is ErrorKind.INVALID_INPUT
    assert (await ground.refusal("fs_read_text", {"path": "docs/b.md"}))[0] is ErrorKind.NOT_FOUND


async def test_size_is_limited(ground: Ground) -> None:
    ground.write("a.txt", "x" * 101)
    assert (await ground.refusal("fs_read_text", {"path": "a.txt", "max_bytes": 100}))[0] is ErrorKind.INPUT_TOO_LARGE
    assert len(await ground.ask("fs_read_text", {"path": "a.txt", "max_bytes": 101.0})) == 101
    ground.write("big.txt", "x" * 1_048_577)
    assert (await ground.refusal("fs_read_text", {"path": "big.txt"}))[0] is ErrorKind.INPUT_TOO_LARGE


async def test_bytes_that_are_no_text_are_a_clear_error(ground: Ground) -> None:
    ground.write("a.bin", b"ab\xff")
    kind, message = await ground.refusal("fs_read_text", {"path": "a.bin"})
    assert kind is ErrorKind.HOST_ERROR
    assert "not UTF-8 text (byte 2)" in message


async def test_json_is_read(ground: Ground) -> None:
    ground.write("a.json", '{"a": [1, 2.5, null, "é"], "b": 9223372036854775807, "b": -9223372036854775808}')
    assert await ground.ask("fs_read_json", {"path": "a.json"}) == {"a": [1, 2.5, None, "é"], "b": -(2**63)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        "[Infinity]",
        "9223372036854775808",
        "[-9223372036854775809]",
        '"\\ud800"',
        "[" * 5_000,
        "{'a': 1}",
    ],
)
async def test_what_is_no_usable_json_is_a_clear_error(ground: Ground, text: str) -> None:
    ground.write("a.json", text)
    kind, message = await ground.refusal("fs_read_json", {"path": "a.json"})
    assert kind is ErrorKind.HOST_ERROR
    assert "workspace:a.json is not usable JSON" in message


async def names(ground: Ground, **argument: object) -> list[str]:
    return [entry["path"] for entry in await ground.ask("fs_list", {"path": ".", **argument})]


@pytest.fixture
def project(ground: Ground) -> Ground:
    for path in (
        "README.md",
        "src/main.lua",
        "src/deep/util.lua",
        "src/deep/notes.md",
        ".git/config",
        "src/.env",
        "id_rsa",
    ):
        ground.write(path, "text")
    (ground.root / "capabilities").rmdir()
    (ground.root / "link").symlink_to("src")
    return ground


async def test_a_listing_shows_what_lies_in_the_folder(project: Ground) -> None:
    assert await project.ask("fs_list", {"path": "."}) == [
        {"path": "README.md", "kind": "file", "bytes": 4},
        {"path": "link", "kind": "link", "bytes": 0},
        {"path": "src", "kind": "directory", "bytes": 0},
    ]
    assert await names(project, path="src") == ["src/deep", "src/main.lua"]
    assert await names(project, path="link/deep") == ["src/deep/notes.md", "src/deep/util.lua"]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.md", ["README.md"]),
        ("**", ["README.md", "link", "src", "src/deep", "src/deep/notes.md", "src/deep/util.lua", "src/main.lua"]),
        ("**/*.md", ["README.md", "src/deep/notes.md"]),
        ("src/*", ["src/deep", "src/main.lua"]),
        ("src/**/*.lua", ["src/deep/util.lua", "src/main.lua"]),
        ("*/deep/[un]*.lua", ["src/deep/util.lua"]),
        ("**/config", []),
        ("[z-a", []),
    ],
)
async def test_a_glob_picks_entries_below(project: Ground, glob: str, found: list[str]) -> None:
    assert await names(project, glob=glob) == found


async def test_a_glob_counts_from_the_folder_that_is_listed(project: Ground) -> None:
    assert await names(project, path="src", glob="deep/*.lua") == ["src/deep/util.lua"]


async def test_a_limit_counts_what_is_shown(project: Ground) -> None:
    assert await names(project, limit=2) == ["README.md", "link"]
    assert await names(project, glob="**", limit=4) == ["README.md", "link", "src", "src/deep"]


async def test_a_folder_that_is_not_granted_is_not_listed_but_one_within_is(project: Ground) -> None:
    project.permissions = granting("workspace/src/deep")
    assert await names(project, path="src/deep") == ["src/deep/notes.md", "src/deep/util.lua"]
    assert (await project.refusal("fs_list", {"path": "src"}))[0] is DENIED


async def test_a_pattern_made_to_be_slow_is_not(project: Ground) -> None:
    project.write("a" * 200, "")
    assert await names(project, glob="*a" * 100 + "b") == []
    assert await names(project, glob="**/" * 80 + "b") == []


async def test_a_listing_without_end_is_refused(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evatui.kernel.host.files._MAX_SEEN", 10)
    for number in range(12):
        ground.write(f"d{number % 3}/f{number}")
    kind, message = await ground.refusal("fs_list", {"path": ".", "glob": "**"})
    assert kind is ErrorKind.HOST_ERROR
    assert "narrower" in message
