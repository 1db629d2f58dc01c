"""A visit holds folders open; the world goes on meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evatui.kernel.workspace.files import FileProblem, ProblemKind, Tree
from evatui.kernel.workspace.visit import Visit

from .conftest import Put

LIMIT = 1000


@pytest.fixture
def visit(tree: Tree) -> Iterator[Visit]:
    with Visit(tree) as opened:
        yield opened


def test_a_folder_replaced_by_a_link_never_leads_out(visit: Visit, root: Path, put: Put, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "x.txt").write_text("s3cret")
    put("a/x.txt", "hello")
    assert visit.read("a/x.txt", LIMIT).data == b"hello"
    (root / "a").rename(root / "b")
    (root / "a").symlink_to(tmp_path / "secret")
    assert visit.read("a/x.txt", LIMIT).data == b"hello"  # the folder that was asked for before
    visit.close()
    with pytest.raises(FileProblem) as refused:
        visit.read("a/x.txt", LIMIT)
    assert refused.value.kind is ProblemKind.OUTSIDE


def test_a_file_replaced_by_a_link_is_judged_anew(visit: Visit, root: Path, put: Put, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret")
    put("a/x.txt", "hello")
    put("a/y.txt", "other")
    visit.read("a/x.txt", LIMIT)
    (root / "a" / "x.txt").unlink()
    (root / "a" / "x.txt").symlink_to(tmp_path / "key")
    assert visit.stat_signature("a/x.txt") is None
    with pytest.raises(FileProblem) as refused:
        visit.read("a/x.txt", LIMIT)
    assert refused.value.kind is ProblemKind.OUTSIDE
    (root / "a" / "x.txt").unlink()
    (root / "a" / "x.txt").symlink_to("y.txt")
    assert visit.read("a/x.txt", LIMIT).path == "a/y.txt"


def test_what_a_held_folder_does_not_have_is_looked_for_again(visit: Visit, root: Path, put: Put) -> None:
    put("a/x.txt", "hello")
    visit.read("a/x.txt", LIMIT)
    (root / "a").rename(root / "b")
    put("a/new.txt", "new")
    assert visit.read("a/new.txt", LIMIT).data == b"new"
    assert visit.stat_signature("a/new.txt") is not None


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="open descriptors cannot be counted")
def test_however_many_folders_few_are_held_and_none_is_left_open(tree: Tree, put: Put) -> None:
    for number in range(200):
        put(f"f{number}/deep/x.txt", str(number))
    before = len(os.listdir("/dev/fd"))
    with Visit(tree) as visit:
        for number in range(200):
            assert visit.read(f"f{number}/deep/x.txt", LIMIT).data == str(number).encode()
        assert len(os.listdir("/dev/fd")) <= before + 64
    assert len(os.listdir("/dev/fd")) == before
