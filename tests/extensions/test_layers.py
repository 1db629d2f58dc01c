"""Skills on a real disk: layers over each other, what they need, links, and bounds."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evatui.extensions.shared.layers import extra_folders, layers_of
from evatui.extensions.shared.local import UserLocal
from evatui.extensions.skills import search
from evatui.extensions.skills.catalogue import Catalogue
from evatui.extensions.skills.skills import Skills
from evatui.kernel.workspace import settling
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import open_layout
from tests.support.waiting import until
from tests.support.workspaces import write

PATH = os.environ.get("PATH", os.defpath)


def text(name: str, description: str = "D", **fields: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\nname: {name}\ndescription: {description}\n{lines}---\nBody of {name}\n"


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    (tmp_path / "ws" / "capabilities").mkdir(parents=True)
    return Disk(tmp_path)


class Disk:
    """A workspace, and beside it folders of the user's own, of a parent profile, extra ones, and a built-in one."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.environment: dict[str, str] = {"PATH": PATH}
        self.allowed = True
        self.events: list[Mapping[str, Any]] = []

    def skills(self) -> Skills:
        home = OperatorHome(
            self.top / "config",
            data=self.top / "data",
            parent=self.top / "parent",
            skills=(self.top / "extra", self.top / "more"),
        )
        layers = layers_of(open_layout(self.top / "ws"), home, self.top / "builtin")
        return Skills(layers, lambda: UserLocal(self.allowed, "p.yaml:3"), self.environment, self._told)

    def _told(self, topic: str, payload: Mapping[str, Any]) -> None:
        assert topic == "/skill/changed"
        self.events.append(payload)

    def look(self, files: Mapping[str, str] | None = None) -> Catalogue:
        write(self.top, files or {})
        return asyncio.run(self.skills().look())


ORDER = (
    ("data/skills", "<user data>/skills", "user"),
    ("parent/skills", "<parent profile>/skills", "parent"),
    ("ws/skills", "skills", "skills"),
    ("ws/bundled-app-skills", "bundled-app-skills", "bundled-app-skills"),
    ("ws/capabilities/extensions/skills", "capabilities/extensions/skills", "capabilities/extensions/skills"),
    ("extra", "<EVA_SKILLS_PATH 1>", "extra-1"),
    ("more", "<EVA_SKILLS_PATH 2>", "extra-2"),
    ("builtin", "<builtin>", "builtin"),
)


def test_the_higher_layer_wins_and_all_below_it_are_shown(disk: Disk) -> None:
    for at, (folder, shown, layer) in reversed([*enumerate(ORDER)]):
        known = disk.look({f"{folder}/deep-search/SKILL.md": text("deep-search", layer)})
        (one,) = known.skills
        assert (one.copy.layer.name, one.copy.skill.description) == (layer, layer)
        assert one.copy.location == f"{shown}/deep-search/SKILL.md"
        assert [copy.location for copy in one.shadows] == [f"{s}/deep-search/SKILL.md" for _, s, _ in ORDER[at + 1 :]]
        assert one.available
    assert [layer.name for layer in known.layers] == [name for _, _, name in ORDER]
    assert known.problems == ()


def test_the_list_of_layers_is_that_of_the_settings(disk: Disk) -> None:
    write(disk.top, {"ws/eva.yaml": "layout: {skills: [b, a]}\n"})
    known = disk.look({"ws/a/x/SKILL.md": text("x", "A"), "ws/b/x/SKILL.md": text("x", "B")})
    assert [layer.name for layer in known.layers][2:4] == ["b", "a"]
    assert known.skills[0].copy.skill.description == "B"


def test_skills_of_the_users_own_are_listed_and_not_in_use_where_the_policy_says_so(disk: Disk) -> None:
    disk.allowed = False
    known = disk.look(
        {
            "data/skills/mine/SKILL.md": text("mine", always="true"),
            "data/skills/both/SKILL.md": text("both", "mine"),
            "ws/skills/both/SKILL.md": text("both", "ours"),
        }
    )
    both, mine = known.skills
    assert (mine.available, mine.reason) == (False, "policy_denied")
    assert [found.code for found in mine.diagnostics] == ["EVA-810"]
    assert "p.yaml:3" in mine.diagnostics[0].message
    assert (both.available, both.copy.skill.description) == (True, "ours")
    assert [copy.location for copy in both.shadows] == ["<user data>/skills/both/SKILL.md"]


def test_each_missing_program_and_variable_is_named(disk: Disk) -> None:
    disk.environment["EMPTY"] = ""
    needs = {"requires_bins": "sh, no-such-program, ./sh, /bin/sh", "requires_env": "[EMPTY, NO_SUCH]"}
    (one,) = disk.look({"ws/skills/x/SKILL.md": text("x", **needs)}).skills
    assert (one.available, one.reason) == (False, "missing")
    assert one.copy.missing == ("no-such-program", "./sh", "/bin/sh", "NO_SUCH")


def test_a_program_in_the_folder_one_is_in_is_no_program(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = disk.top / "here-only"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.chdir(disk.top)
    disk.environment["PATH"] = f".{os.pathsep}{os.pathsep}{PATH}"
    (one,) = disk.look({"ws/skills/x/SKILL.md": text("x", requires_bins="here-only")}).skills
    assert one.copy.missing == ("here-only",)
    disk.environment["PATH"] = str(disk.top)
    assert disk.look().skills[0].available


def test_a_manifest_beside_it_means_tools_but_not_for_what_is_built_in(disk: Disk) -> None:
    known = disk.look(
        {
            "ws/skills/a/SKILL.md": text("a"),
            "ws/skills/a/manifest.json": "{}",
            "builtin/b/SKILL.md": text("b"),
            "builtin/b/manifest.json": "{}",
        }
    )
    assert [(one.name, one.copy.tools) for one in known.skills] == [("a", True), ("b", False)]


def test_two_of_one_name_in_one_layer_are_told(disk: Disk) -> None:
    (one,) = disk.look({"ws/skills/a/SKILL.md": text("same"), "ws/skills/b/SKILL.md": text("same")}).skills
    assert one.copy.location == "skills/a/SKILL.md"
    assert "EVA-812" in [found.code for found in one.diagnostics]


def test_a_refused_file_says_which_one_is_used_instead(disk: Disk) -> None:
    known = disk.look({"ws/skills/x/SKILL.md": "no front matter", "builtin/x/SKILL.md": text("x")})
    (refused,) = known.refused
    assert (refused.path, refused.instead) == ("skills/x/SKILL.md", "<builtin>/x/SKILL.md")
    assert [found.code for found in refused.diagnostics] == ["EVA-802"]


def test_folders_are_searched_and_what_belongs_to_a_skill_is_not(disk: Disk) -> None:
    known = disk.look(
        {
            "ws/skills/group/one/SKILL.md": text("one"),
            "ws/skills/group/one/examples/SKILL.md": text("never"),
            "ws/skills/node_modules/x/SKILL.md": text("never"),
            "ws/skills/.hidden/SKILL.md": text("never"),
            "ws/skills/loose/skill.md": text("loose"),
            "ws/skills/empty/README.md": "nothing",
            "ws/skills/plugin/manifest.json": "{}",
            "extra/SKILL.md": text("extra"),
        }
    )
    assert [one.name for one in known.skills] == ["extra", "loose", "one"]
    assert [found.code for found in known.named("loose").diagnostics] == ["EVA-808"]
    assert [(found.code, found.primary.file) for found in known.problems] == [("EVA-814", "skills/empty")]


def test_links_are_followed_inside_of_the_allowed_folders_only(disk: Disk) -> None:
    write(disk.top, {"ws/docs/a/SKILL.md": text("a"), "extra/b/SKILL.md": text("b"), "secret/c/SKILL.md": text("c")})
    write(disk.top, {"data/skills/d/SKILL.md": text("d"), "ws/.env": "---\nname: e\ndescription: E\n---\n"})
    skills = disk.top / "ws/skills"
    skills.mkdir()
    (skills / "a").symlink_to("../docs/a")
    (skills / "b").symlink_to(disk.top / "extra/b")
    (skills / "c").symlink_to(disk.top / "secret/c")
    (skills / "d").symlink_to(disk.top / "data/skills/d")
    (skills / "e").mkdir()
    (skills / "e/SKILL.md").symlink_to("../../.env")
    (skills / "gone").symlink_to("nowhere")
    (skills / "loop").symlink_to(".")
    disk.allowed = False
    known = disk.look()
    assert [(one.name, one.copy.layer.name, one.available) for one in known.skills] == [
        ("a", "skills", True),
        ("b", "skills", True),
        ("d", "user", False),
    ]
    refused = ["skills/c", "skills/d", "skills/e/SKILL.md", "skills/gone"]
    assert [one.path for one in known.refused] == refused
    assert {found.code for one in known.refused for found in one.diagnostics} == {"EVA-801"}
    assert str(disk.top) not in str([one.diagnostics for one in known.refused])


def test_what_cannot_be_read_is_told(disk: Disk) -> None:
    write(disk.top, {"ws/skills/big/SKILL.md": "---\n" + "x" * (1 << 20), "ws/skills/ok/SKILL.md": text("ok")})
    os.mkfifo(disk.top / "ws/skills/pipe") if hasattr(os, "mkfifo") else None
    (disk.top / "ws/skills/folder/SKILL.md").mkdir(parents=True)
    known = disk.look()
    assert [one.name for one in known.skills] == ["ok"]
    assert [(one.path, one.diagnostics[0].code) for one in known.refused] == [("skills/big/SKILL.md", "EVA-801")]


@pytest.mark.parametrize(("bound", "found"), [("MAX_FOLDERS", 3), ("MAX_SKILLS", 4), ("MAX_DEPTH", 5)])
def test_bounds_are_told(disk: Disk, monkeypatch: pytest.MonkeyPatch, bound: str, found: int) -> None:
    monkeypatch.setattr(search, bound, 4 if bound != "MAX_DEPTH" else 2)
    write(disk.top, {f"ws/skills/s{n}/SKILL.md": text(f"s{n}") for n in range(5)})
    known = disk.look({"ws/skills/z/z/z/z/SKILL.md": text("deep")})
    assert len(known.skills) == found
    assert "EVA-811" in [problem.code for problem in known.problems]


def test_an_unreadable_layer_is_told_and_a_missing_one_is_none(disk: Disk) -> None:
    (disk.top / "extra").write_text("a file")
    known = disk.look()
    assert [(found.code, found.primary.file) for found in known.problems] == [("EVA-811", "<EVA_SKILLS_PATH 1>")]


def test_extra_folders_come_from_both_variables_in_their_order(tmp_path: Path) -> None:
    given = {"OCTOS_SKILLS_PATH": "/c", "EVA_SKILLS_PATH": f"/a{os.pathsep}{os.pathsep}/b"}
    assert [path.as_posix() for path in extra_folders(given)] == ["/a", "/b", "/c"]
    assert extra_folders({}) == ()


def test_the_same_folder_counts_once(disk: Disk) -> None:
    (disk.top / "more").symlink_to(disk.top / "ws/skills")
    (one,) = disk.look({"ws/skills/x/SKILL.md": text("x")}).skills
    assert one.shadows == ()


async def test_what_changes_is_told_by_name(disk: Disk) -> None:
    skills = disk.skills()
    write(disk.top, {"ws/skills/a/SKILL.md": text("a"), "ws/skills/b/SKILL.md": text("b")})
    changes: list[int] = []
    skills.on_change = lambda: changes.append(1)
    first = await skills.look()
    assert (disk.events, changes) == ([], [1])
    assert await skills.look() is first
    write(disk.top, {"ws/skills/a/SKILL.md": text("a", "E"), "ws/skills/c/SKILL.md": text("c")})
    write(disk.top, {"ws/skills/b/SKILL.md": "broken"})
    skills.follow(frozenset({"capabilities/x.yaml"}))
    assert skills.latest is first
    skills.follow(frozenset({"skills/a/SKILL.md"}))
    skills.follow(frozenset())
    await until(lambda: disk.events)
    assert disk.events == [{"added": ["c"], "changed": ["a", "b"], "removed": [], "rejected": ["skills/b/SKILL.md"]}]
    assert changes == [1, 1]
    await skills.close()


@pytest.mark.parametrize("late", [False, True])
def test_the_policy_counts_at_the_time_of_asking(disk: Disk, late: bool) -> None:
    write(disk.top, {"data/skills/mine/SKILL.md": text("mine")})
    skills = disk.skills()
    disk.allowed = late
    before: Callable[[], bool] = lambda: skills.latest.skills[0].available  # noqa: E731
    asyncio.run(skills.look())
    assert before() is late
    disk.allowed = not late
    assert before() is not late


async def test_half_of_a_save_is_told_to_nobody(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    skills, file = disk.skills(), disk.top / "ws/skills/a/SKILL.md"
    write(disk.top, {"ws/skills/a/SKILL.md": text("a")})
    await skills.look()
    seen: list[str] = []
    skills.on_change = lambda: seen.append(skills.latest.skills[0].copy.skill.body)
    file.write_text(text("a") + "half of")

    def goes_on(seconds: float) -> None:
        if not file.read_text().endswith("it\n"):
            file.write_text(text("a") + "half of it\n")

    monkeypatch.setattr(settling, "time", SimpleNamespace(monotonic=time.monotonic, sleep=goes_on))
    await skills.look()
    assert seen == ["Body of a\nhalf of it\n"]
