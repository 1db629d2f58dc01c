"""Skills with a ``manifest.json`` beside them: what of it gets into prompts, and what never does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from evatui.extensions.prompts.context import context
from evatui.extensions.shared.layers import layers_of
from evatui.extensions.shared.local import UserLocal
from evatui.extensions.skills.catalogue import Catalogue
from evatui.extensions.skills.skills import Skills
from evatui.kernel.workspace.layout import open_layout
from tests.support.workspaces import write

SKILL = "---\nname: pack\ndescription: D\n{}---\nBody of pack\n"


def look(root: Path, manifest: object, front: str = "", **files: str) -> Catalogue:
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    write(root, {"skills/pack/SKILL.md": SKILL.format(front), "skills/pack/manifest.json": text})
    write(root, {f"skills/pack/{name.replace('__', '/')}.md": content for name, content in files.items()})
    skills = Skills(layers_of(open_layout(root), None, root / "none"), lambda: UserLocal(False), {}, print)
    return asyncio.run(skills.look())


def told(known: Catalogue) -> list[tuple[str, str, str]]:
    return [(part.why, part.location, part.text) for part in context(known)[1:]]


def test_what_prompts_include_is_in_the_context_once_with_its_place(tmp_path: Path) -> None:
    patterns = ["prompts/*.md", "prompts/a.md", "**/deep.md", "none/*.md"]
    files = {"prompts__a": "A", "prompts__b": "\ufeffB", "x__y__deep": "deep", "other": "no", "prompts__sub__c": "no"}
    known = look(tmp_path, {"name": "pack", "prompts": {"include": patterns}}, **files)
    assert known.skills[0].copy.tools
    assert told(known) == [
        ("include", "skills/pack/prompts/a.md", "A"),
        ("include", "skills/pack/prompts/b.md", "B"),
        ("include", "skills/pack/x/y/deep.md", "deep"),
    ]
    assert known.skills[0].diagnostics == ()


def test_a_package_with_tools_in_the_background_brings_its_text_and_only_once(tmp_path: Path) -> None:
    manifest = {"name": "pack", "tools": [{"name": "slow", "spawn_only": True}], "prompts": {"include": ["SKILL.md"]}}
    assert told(look(tmp_path, manifest)) == [("spawn_only", "skills/pack/SKILL.md", "Body of pack\n")]
    assert told(look(tmp_path, manifest, "always: true\n")) == [("always", "skills/pack/SKILL.md", "Body of pack\n")]
    assert told(look(tmp_path, {"name": "pack", "tools": [{"name": "quick"}]})) == []


def test_what_cannot_be_used_brings_nothing(tmp_path: Path) -> None:
    tools = [{"name": "slow", "spawn_only": True}]
    manifest = {"name": "pack", "tools": tools, "prompts": {"include": ["*.md"]}}
    assert told(look(tmp_path, manifest, "requires_env: NO_SUCH\n", more="text")) == []


@pytest.mark.parametrize(
    ("manifest", "code", "line"),
    [
        ("{broken", "EVA-831", 1),
        ('{"name": "pack",\n "prompts": {"include": ["../../.env"]}\n}', "EVA-833", 2),
        ('{"name": "pack", "prompts": {"include": [3]}}', "EVA-833", 1),
    ],
)
def test_a_manifest_that_does_not_fit_is_told_and_adds_nothing(
    tmp_path: Path, manifest: str, code: str, line: int
) -> None:
    (tmp_path / ".env").write_text("SECRET=1")
    known = look(tmp_path, manifest)
    (found,) = known.skills[0].diagnostics
    assert (found.code, found.primary.file, found.primary.line) == (code, "skills/pack/manifest.json", line)
    assert (known.skills[0].available, told(known)) == (True, [])


def test_nothing_outside_of_its_own_folder_is_included(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    pack = tmp_path / "skills/pack"
    pack.mkdir(parents=True)
    (pack / "link.md").symlink_to("../../secret.md")
    (pack / "linked").symlink_to("../..")
    known = look(tmp_path, {"name": "pack", "prompts": {"include": ["link.md", "linked/*", "**"]}}, **{".hidden": "no"})
    assert [location for _, location, _ in told(known)] == ["skills/pack/SKILL.md", "skills/pack/manifest.json"]


def test_too_many_or_too_large_files_are_left_out_and_told(tmp_path: Path) -> None:
    (tmp_path / "skills/pack").mkdir(parents=True)
    (tmp_path / "skills/pack/latin.md").write_bytes(b"caf\xe9")
    known = look(tmp_path, {"name": "pack", "prompts": {"include": ["l*.md"]}}, large="x" * ((1 << 18) + 1))
    assert [found.code for found in known.skills[0].diagnostics] == ["EVA-816", "EVA-816"]
    known = look(tmp_path, {"name": "pack", "prompts": {"include": ["n*.md"]}}, **{f"n{n}": "x" for n in range(25)})
    assert len(told(known)) == 20
    assert "more than 20" in known.skills[0].diagnostics[0].message
