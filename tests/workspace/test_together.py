"""Policies and the like in the middle of a save."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evatui.kernel.workspace.files import FileProblem, ProblemKind, SourceFile, Tree
from evatui.kernel.workspace.layout import Layout, open_layout
from evatui.kernel.workspace.together import read_together

from .conftest import Put

ONE, OTHER = "capabilities/policies/a.yaml", "capabilities/policies/b.yaml"


Begin = Callable[[Path], object]


class BusyTree(Tree):
    """A tree in which somebody saves before and after each read."""

    before: Callable[[], object] = staticmethod(lambda: None)
    after: Callable[[], object] = staticmethod(lambda: None)

    def read(self, path: str, limit: int, *, max_links: int | None = None) -> SourceFile:
        self.before()
        try:
            return super().read(path, limit, max_links=max_links)
        finally:
            self.after()


@pytest.fixture
def layout(workspace: Path, put: Put) -> Layout:
    put(ONE, "version: 1\n")
    put(OTHER, "version: 1\n")
    return open_layout(workspace)


@pytest.fixture
def busy(layout: Layout) -> Iterator[BusyTree]:
    opened = BusyTree(layout.root)
    yield opened
    opened.close()


def contents(tree: Tree, layout: Layout) -> list[bytes | ProblemKind]:
    found = read_together(tree, [ONE, OTHER], layout.policies, 1000)
    return [source.kind if isinstance(source, FileProblem) else source.data for source in found]


def once(action: Callable[[], object]) -> Callable[[], object]:
    waiting = [action]
    return lambda: waiting.pop()() if waiting else None


@pytest.mark.parametrize("begin", [Path.unlink, lambda path: path.write_text(""), lambda path: path.write_text("gra")])
def test_a_save_under_way_is_waited_for(busy: BusyTree, layout: Layout, put: Put, begin: Begin) -> None:
    begin(layout.root / ONE)
    busy.after = once(lambda: put(ONE, "new"))
    assert contents(busy, layout) == [b"new", b"version: 1\n"]


def test_no_two_are_read_before_and_after_a_change_of_both(busy: BusyTree, layout: Layout, put: Put) -> None:
    busy.after = once(lambda: (put(ONE, "new"), put(OTHER, "new")))
    assert contents(busy, layout) == [b"new", b"new"]


def test_one_that_never_rests_is_a_problem(busy: BusyTree, layout: Layout) -> None:
    with open(layout.root / ONE, "ab", buffering=0) as file:
        busy.before = busy.after = lambda: file.write(b"#")
        assert contents(busy, layout)[0] is ProblemKind.UNREADABLE


def test_what_is_really_gone_is_missing(busy: BusyTree, layout: Layout) -> None:
    (layout.root / OTHER).unlink()
    assert contents(busy, layout) == [b"version: 1\n", ProblemKind.MISSING]
