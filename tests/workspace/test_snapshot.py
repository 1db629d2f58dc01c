"""A manifest and all it names, as one."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evatui.kernel.workspace.files import FileProblem, ProblemKind, SourceFile, Tree
from evatui.kernel.workspace.layout import Layout, open_layout
from evatui.kernel.workspace.snapshot import MAX_SOURCE_BYTES, Snapshot, take_snapshot

from .conftest import MANIFEST, Put

GREET = "capabilities/greet.yaml"
SCRIPT = "capabilities/tools/greet.lua"


@pytest.fixture
def layout(workspace: Path) -> Layout:
    return open_layout(workspace)


def manifest(**changes: str) -> str:
    """The manifest with ``script``, ``module``, ``input`` or ``output`` replaced."""
    text = MANIFEST
    for old, new in {
        "capabilities/tools/greet.lua": changes.get("script"),
        "capabilities/modules/kit.lua": changes.get("module"),
        "schemas/greet.input.json": changes.get("input"),
        "{type: object}": changes.get("output"),
    }.items():
        text = text.replace(old, new) if new is not None else text
    return text


def test_all_that_the_manifest_names_is_taken(tree: Tree, layout: Layout) -> None:
    taken = take_snapshot(tree, layout, GREET)
    assert taken.path == GREET
    assert taken.manifest.data == MANIFEST.encode()
    assert taken.document is not None
    assert taken.document.value["id"] == "greet"
    assert set(taken.files) == {SCRIPT, "capabilities/modules/kit.lua", "schemas/greet.input.json"}
    assert taken.files[SCRIPT].data == b"function invoke() end\n"
    assert (taken.missing, taken.problems) == ({}, ())


def test_the_signatures_tell_whether_there_is_anything_new(tree: Tree, layout: Layout, put: Put) -> None:
    taken = take_snapshot(tree, layout, GREET)
    assert set(taken.signatures) == {GREET, *taken.files}
    assert tree.signatures(taken.signatures) == taken.signatures
    put("schemas/greet.input.json", "{ }")
    assert tree.signatures(taken.signatures) != taken.signatures


def test_the_digest_is_that_of_the_contents(tree: Tree, layout: Layout, put: Put, workspace: Path) -> None:
    first = take_snapshot(tree, layout, GREET).digest
    os.utime(workspace / SCRIPT)
    assert take_snapshot(tree, layout, GREET).digest == first
    digests = {first}
    for path, content in ((SCRIPT, "-- 2"), ("schemas/greet.input.json", "{  }"), (GREET, MANIFEST + "#\n")):
        put(path, content)
        digests.add(take_snapshot(tree, layout, GREET).digest)
    (workspace / SCRIPT).unlink()
    digests.add(take_snapshot(tree, layout, GREET).digest)
    assert len(digests) == 5


@pytest.mark.parametrize(
    ("change", "path", "kind"),
    [
        ({"script": "capabilities/tools/gone.lua"}, "capabilities/tools/gone.lua", ProblemKind.MISSING),
        ({"script": "capabilities/tools"}, "capabilities/tools", ProblemKind.NOT_REGULAR),
        ({"script": "capabilities/pipe.lua"}, "capabilities/pipe.lua", ProblemKind.NOT_REGULAR),
        ({"script": "capabilities/big.lua"}, "capabilities/big.lua", ProblemKind.TOO_LARGE),
        ({"script": "schemas/greet.input.json"}, "schemas/greet.input.json", ProblemKind.OUTSIDE),
        ({"script": "elsewhere/none.lua"}, "elsewhere/none.lua", ProblemKind.OUTSIDE),
        ({"script": "elsewhere/x.lua"}, "elsewhere/x.lua", ProblemKind.OUTSIDE),
        ({"script": "capabilities/link.lua"}, "capabilities/link.lua", ProblemKind.OUTSIDE),
        ({"script": "capabilities/../elsewhere/x.lua"}, "capabilities/../elsewhere/x.lua", ProblemKind.OUTSIDE),
        ({"script": "/etc/hostname"}, "/etc/hostname", ProblemKind.OUTSIDE),
        ({"script": "capabilities\\x.lua"}, "capabilities\\x.lua", ProblemKind.OUTSIDE),
        ({"module": "schemas/greet.input.json"}, "schemas/greet.input.json", ProblemKind.OUTSIDE),
        ({"module": "../x.lua"}, "../x.lua", ProblemKind.OUTSIDE),
        ({"output": SCRIPT}, SCRIPT, ProblemKind.OUTSIDE),
        ({"output": "schemas/none.json"}, "schemas/none.json", ProblemKind.MISSING),
        ({"input": "schemas"}, "schemas", ProblemKind.NOT_REGULAR),
    ],
)
def test_what_cannot_be_taken_says_why(
    tree: Tree, layout: Layout, put: Put, workspace: Path, change: dict[str, str], path: str, kind: ProblemKind
) -> None:
    put("elsewhere/x.lua", "")
    put("capabilities/big.lua", b"-" * (MAX_SOURCE_BYTES + 1))
    os.mkfifo(workspace / "capabilities" / "pipe.lua")
    (workspace / "capabilities" / "link.lua").symlink_to("../elsewhere/x.lua")
    put(GREET, manifest(**change))
    taken = take_snapshot(tree, layout, GREET)
    assert {name: problem.kind for name, problem in taken.missing.items()} == {path: kind}
    assert path not in taken.files
    assert taken.problems == ()
    assert str(workspace) not in str(taken.missing[path])


def test_a_link_inside_the_allowed_folders_is_taken_under_its_name(
    tree: Tree, layout: Layout, put: Put, workspace: Path
) -> None:
    (workspace / "capabilities" / "alias.lua").symlink_to("tools/greet.lua")
    put(GREET, manifest(script="capabilities/alias.lua"))
    taken = take_snapshot(tree, layout, GREET)
    assert taken.files["capabilities/alias.lua"].path == SCRIPT


def test_a_linked_folder_may_be_an_allowed_one(tree: Tree, put: Put, workspace: Path) -> None:
    (workspace / "schemas").rename(workspace / "shared")
    (workspace / "schemas").symlink_to("shared")
    taken = take_snapshot(tree, open_layout(workspace), GREET)
    assert taken.files["schemas/greet.input.json"].path == "shared/greet.input.json"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("id: a\nid: b\n", "EVA-104"),
        (b"id: \xff\n", "EVA-102"),
        (b"id: \x00\n", "EVA-103"),
        ("#" * (1024 * 1024 + 1), "EVA-111"),
        ("lua: {modules: {" + ", ".join(f"m{n}: capabilities/m{n}.lua" for n in range(200)) + "}}\n", "EVA-118"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_a_problem(
    tree: Tree, layout: Layout, put: Put, content: str | bytes, code: str
) -> None:
    put(GREET, content)
    taken = take_snapshot(tree, layout, GREET)
    assert [problem.code for problem in taken.problems] == [code]
    assert all(span.file == GREET for problem in taken.problems for span in problem.spans)
    assert (taken.document, taken.files, taken.missing) == (None, {}, {})


@pytest.mark.parametrize("content", ["", "- a\n", "text\n", "lua: text\ninput_schema: 7\n", "lua: {modules: [1]}\n"])
def test_a_manifest_of_another_shape_is_still_a_snapshot(tree: Tree, layout: Layout, put: Put, content: str) -> None:
    put(GREET, content)
    taken = take_snapshot(tree, layout, GREET)
    assert taken.document is not None
    assert (taken.problems, taken.files, taken.missing) == ((), {}, {})


def test_a_manifest_that_is_a_folder_or_a_link_out_is_a_problem(
    tree: Tree, layout: Layout, workspace: Path, put: Put
) -> None:
    (workspace / "capabilities" / "folder.yaml").mkdir()
    put("docs/writable.yaml", MANIFEST)
    (workspace / "capabilities" / "link.yaml").symlink_to("../docs/writable.yaml")
    for path, code in (("capabilities/folder.yaml", "EVA-113"), ("capabilities/link.yaml", "EVA-114")):
        taken = take_snapshot(tree, layout, path)
        assert [problem.code for problem in taken.problems] == [code]
        assert taken.document is None


def test_no_manifest_is_no_snapshot(tree: Tree, layout: Layout) -> None:
    with pytest.raises(FileProblem) as caught:
        take_snapshot(tree, layout, "capabilities/none.yaml")
    assert caught.value.kind is ProblemKind.MISSING


class BusyTree(Tree):
    """A tree in which somebody saves around the reads of the script: ``before`` and ``after`` each of them."""

    before: Callable[[], object] = staticmethod(lambda: None)
    after: Callable[[], object] = staticmethod(lambda: None)

    def read(self, path: str, limit: int, *, max_links: int | None = None) -> SourceFile:
        if path != SCRIPT:
            return super().read(path, limit, max_links=max_links)
        self.before()
        try:
            return super().read(path, limit, max_links=max_links)
        finally:
            self.after()


@pytest.fixture
def busy(workspace: Path) -> Iterator[BusyTree]:
    opened = BusyTree(workspace)
    yield opened
    opened.close()


def once(action: Callable[[], object]) -> Callable[[], object]:
    waiting = [action]
    return lambda: waiting.pop()() if waiting else None


def test_a_file_that_never_rests_is_a_problem_and_not_a_version(
    busy: BusyTree, layout: Layout, workspace: Path
) -> None:
    with open(workspace / SCRIPT, "ab", buffering=0) as script:
        busy.before = lambda: script.write(b"-")
        taken = take_snapshot(busy, layout, GREET)
    assert [problem.code for problem in taken.problems] == ["EVA-115"]
    assert taken.document is None


def test_a_save_between_two_looks_is_not_missed(busy: BusyTree, layout: Layout, put: Put) -> None:
    busy.after = once(lambda: put(SCRIPT, "-- new"))
    assert take_snapshot(busy, layout, GREET).files[SCRIPT].data == b"-- new"


def test_a_manifest_saved_while_its_script_is_read_is_not_mixed_with_it(
    busy: BusyTree, layout: Layout, put: Put
) -> None:
    put("capabilities/tools/other.lua", "-- other")
    busy.after = once(lambda: put(GREET, manifest(script="capabilities/tools/other.lua")))
    taken = take_snapshot(busy, layout, GREET)
    assert SCRIPT not in taken.files
    assert taken.files["capabilities/tools/other.lua"].data == b"-- other"


def test_a_save_that_first_removes_the_old_file_is_waited_for(
    busy: BusyTree, layout: Layout, put: Put, workspace: Path
) -> None:
    os.unlink(workspace / SCRIPT)
    busy.after = once(lambda: put(SCRIPT, "-- back"))
    taken = take_snapshot(busy, layout, GREET)
    assert (taken.missing, taken.files[SCRIPT].data) == ({}, b"-- back")


def test_a_save_that_first_empties_the_file_is_waited_for(busy: BusyTree, layout: Layout, put: Put) -> None:
    put(SCRIPT, "")
    busy.after = once(lambda: put(SCRIPT, "-- full"))
    assert take_snapshot(busy, layout, GREET).files[SCRIPT].data == b"-- full"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who writes")
def test_a_save_whose_writer_gets_no_core_is_waited_for(busy: BusyTree, layout: Layout, workspace: Path) -> None:
    with open(workspace / SCRIPT, "wb", buffering=0) as script:
        script.write(b"-- half")
        reads: list[int] = []

        def read() -> None:
            reads.append(1)
            if len(reads) == 4:
                script.write(b" and whole")
                script.close()

        busy.after = read
        assert take_snapshot(busy, layout, GREET).files[SCRIPT].data == b"-- half and whole"


def test_a_file_that_somebody_keeps_open_is_taken_all_the_same(tree: Tree, layout: Layout, workspace: Path) -> None:
    with open(workspace / SCRIPT, "ab", buffering=0) as script:
        script.write(b"-- more")
        taken = take_snapshot(tree, layout, GREET)
    assert taken.files[SCRIPT].data.endswith(b"-- more")
    assert taken.problems == ()


def test_saves_in_place_and_by_rename_are_never_seen_half(tree: Tree, layout: Layout, workspace: Path) -> None:
    """Each version of the script is one letter, repeated."""
    script = workspace / SCRIPT
    letters = [letter.encode() * 40_000 for letter in "abcdefgh"]
    script.write_bytes(letters[0])
    stop = threading.Event()

    def save() -> None:
        turn = 0
        while not stop.wait(0.03):
            turn += 1
            content = letters[turn % len(letters)]
            if turn % 2:
                with open(script, "r+b", buffering=0) as file:
                    file.write(content)
            else:
                script.with_suffix(".new").write_bytes(content)
                os.replace(script.with_suffix(".new"), script)

    thread = threading.Thread(target=save)
    thread.start()
    seen: list[Snapshot] = []
    try:
        while len({taken.digest for taken in seen}) < 8:
            seen.append(take_snapshot(tree, layout, GREET))
    finally:
        stop.set()
        thread.join()
    assert {taken.files[SCRIPT].data for taken in seen if not taken.problems} <= set(letters)
