"""Reading inside a root that nothing leads out of."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.kernel.workspace.access import Access, ByDescriptor, ByPath, Leaves, best_access
from evatui.kernel.workspace.files import EntryKind, FileProblem, ProblemKind, Tree
from evatui.kernel.workspace.found import known_of
from evatui.kernel.workspace.visit import Visit

from .conftest import Put

LIMIT = 1000


@pytest.fixture(params=[ByDescriptor, ByPath])
def access(request: pytest.FixtureRequest) -> Access:
    found: Access = request.param()
    return found


@pytest.fixture(params=["tree", "visit"])
def tree(root: Path, access: Access, request: pytest.FixtureRequest) -> Iterator[Tree]:
    """What a visit refuses and gives is what the tree does."""
    opened = Tree(root, access)
    if request.param == "tree":
        yield opened
    else:
        with Visit(opened) as visit:
            yield visit
    opened.close()


def refused(tree: Tree, path: str, limit: int = LIMIT, max_links: int | None = None) -> FileProblem:
    with pytest.raises(FileProblem) as caught:
        tree.read(path, limit, max_links=max_links)
    return caught.value


def test_a_file_is_read_with_its_digest_and_signature(tree: Tree, put: Put) -> None:
    put("a/b.txt", "hello")
    source = tree.read("./a//b.txt", LIMIT)
    assert (source.path, source.data) == ("a/b.txt", b"hello")
    assert source.digest == hashlib.sha256(b"hello").hexdigest()
    assert source.signature == tree.stat_signature("a/b.txt")
    assert source.signature[2] == 5


@pytest.mark.parametrize(
    "path",
    [
        *("", "..", "../x", "a/../../x", "a/../b.txt", "/etc/hostname", "~/x", "C:/x", "C:x", "a\\b.txt", "..\\x"),
        *("a\x00b", "a\nb", "a\u202eb", "\udc80", "x" * 5000, "a/" * 100 + "x"),
    ],
)
def test_a_path_that_is_not_of_the_workspace_is_outside(tree: Tree, put: Put, path: str) -> None:
    put("a/b.txt", "hello")
    assert refused(tree, path).kind is ProblemKind.OUTSIDE


def test_links_inside_are_followed_to_where_they_lead(tree: Tree, root: Path, put: Put) -> None:
    put("real/deep/x.txt", "hello")
    (root / "short").symlink_to("real/deep")
    (root / "real" / "up").symlink_to("../short/../deep/x.txt")
    (root / "absolute").symlink_to(root / "real" / "deep")
    assert tree.canonical("short/x.txt") == "real/deep/x.txt"
    assert tree.canonical("real/up") == "real/deep/x.txt"
    assert tree.read("absolute/x.txt", LIMIT).path == "real/deep/x.txt"
    assert tree.kind("short") is EntryKind.FOLDER


def test_links_out_are_refused_and_nothing_outside_is_named(tree: Tree, root: Path, put: Put, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("s3cret")
    (tmp_path / "ws-twin").mkdir()
    (tmp_path / "ws-twin" / "key").write_text("s3cret")
    put("sub/x.txt", "hello")
    (root / "up").symlink_to("../secret")
    (root / "absolute").symlink_to(tmp_path / "secret")
    (root / "twin").symlink_to(tmp_path / "ws-twin")
    (root / "sneaky").symlink_to(str(root / "sub" / ".." / ".." / "secret"))
    (root / "sub" / "out").symlink_to("../../secret/key")
    (root / "down-and-up").symlink_to("sub/../../secret")
    for path in ("up/key", "absolute/key", "twin/key", "sneaky/key", "sub/out", "down-and-up/key"):
        problem = refused(tree, path)
        assert problem.kind is ProblemKind.OUTSIDE, path
        assert "secret" not in problem.detail
        assert str(tmp_path) not in str(problem)


def test_links_in_a_circle_end(tree: Tree, root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "self").symlink_to("self/self/self")
    assert refused(tree, "a").kind is ProblemKind.LINK
    assert refused(tree, "self").kind is ProblemKind.LINK


def test_what_is_missing_is_missing(tree: Tree, root: Path, put: Put) -> None:
    put("a.txt", "hello")
    (root / "dangling").symlink_to("nowhere")
    for path in ("b.txt", "no/b.txt", "a.txt/b", "dangling", "x" * 300):
        assert refused(tree, path).kind is ProblemKind.MISSING, path
        assert tree.stat_signature(path) is None


def test_folders_pipes_and_devices_are_no_files_and_never_hang(tree: Tree, root: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    (root / "device").symlink_to("/dev/zero")
    assert refused(tree, "folder").kind is ProblemKind.NOT_REGULAR
    assert refused(tree, ".").kind is ProblemKind.NOT_REGULAR
    assert refused(tree, "pipe").kind is ProblemKind.NOT_REGULAR
    assert refused(tree, "device").kind is ProblemKind.OUTSIDE
    assert tree.stat_signature("pipe") is None


def test_a_pipe_that_takes_the_place_of_a_file_does_not_hang_the_open(root: Path) -> None:
    os.mkfifo(root / "pipe")
    for access in (ByDescriptor(), ByPath()):
        folder = access.root(root)
        os.close(access.open(folder, "pipe"))
        access.leave(folder)


def test_size_is_bounded_to_the_byte(tree: Tree, put: Put) -> None:
    put("full", b"x" * LIMIT)
    put("over", b"x" * (LIMIT + 1))
    assert len(tree.read("full", LIMIT).data) == LIMIT
    assert refused(tree, "over").kind is ProblemKind.TOO_LARGE


def test_a_second_name_is_refused_where_asked(tree: Tree, root: Path, put: Put) -> None:
    put("one", "hello")
    os.link(root / "one", root / "two")
    assert tree.read("two", LIMIT).data == b"hello"
    assert refused(tree, "two", max_links=1).kind is ProblemKind.LINK


def test_a_folder_lists_what_it_holds(tree: Tree, root: Path, put: Put) -> None:
    put("d/b.txt", "12345")
    put("d/a/x", "")
    os.mkfifo(root / "d" / "pipe")
    (root / "d" / "link").symlink_to("b.txt")
    (root / "d" / "bad\nname").write_text("")
    shown = [(entry.name, entry.kind, entry.bytes) for entry in tree.list("d")]
    assert shown == [
        ("a", EntryKind.FOLDER, 0),
        ("b.txt", EntryKind.FILE, 5),
        ("link", EntryKind.LINK, 0),
        ("pipe", EntryKind.OTHER, 0),
    ]
    assert [entry.name for entry in tree.list("d", 2)] == ["a", "b.txt"]
    with pytest.raises(FileProblem) as caught:
        tree.list("d/b.txt")
    assert caught.value.kind is ProblemKind.NOT_REGULAR


def test_many_signatures_are_those_of_each(tree: Tree, root: Path, put: Put, tmp_path: Path) -> None:
    put("d/a", "1")
    put("d/b", "22")
    put("top", "333")
    (tmp_path / "out").write_text("x")
    (root / "d" / "link").symlink_to("../top")
    (root / "d" / "leaves").symlink_to(tmp_path / "out")
    paths = ["d/a", "d/b", "d/link", "d/leaves", "d/none", "d", "top", "no/a", "top/a", "../out", "d/..", ""]
    found = tree.signatures(paths)
    assert found == {path: tree.stat_signature(path) for path in paths}
    assert found["d/link"] == found["top"] is not None
    assert found["d/leaves"] is found["../out"] is found["d/.."] is None
    assert tree.moved(known_of(found.items())) == set()
    stale = dict.fromkeys(paths, (0, 0, 0, 0, 0))
    assert tree.moved(known_of(stale.items())) == set(paths)
    assert tree.moved(known_of([*found.items(), ("d/a", None)])) == {"d/a"}


def _replaced(file: Path) -> None:
    """By one of the same size and times."""
    times = file.stat()
    beside = file.with_name("beside")
    beside.write_text("x" * times.st_size)
    os.utime(beside, ns=(times.st_atime_ns, times.st_mtime_ns))
    beside.replace(file)


def _linked(file: Path) -> None:
    """To what was here, under another name."""
    file.rename(file.with_name("beside"))
    file.symlink_to("beside")


@pytest.mark.parametrize("path", ["d/a", "d/link", "away/a"])
@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_text("333"),
        lambda file: os.utime(file, (1, 1)),
        lambda file: file.chmod(0o600),  # no other time than that of the entry
        lambda file: file.rename(file.with_name("beside")),
        lambda file: file.rename(file.with_name("beside")) and file.mkdir(),
        lambda file: file.rename(file.with_name("beside")) and os.mkfifo(file),
        lambda file: file.parent.rename(file.parent.with_name("beside")),
        lambda file: file.parent.rename(file.parent.with_name("beside")) and file.parent.write_text("x"),
        _replaced,
        _linked,
    ],
)
def test_what_moved_is_what_has_another_signature(
    root: Path, access: Access, put: Put, path: str, change: Callable[[Path], object]
) -> None:
    put("d/a", "1")
    put("d/b", "22")
    (root / "d" / "link").symlink_to("a")
    (root / "away").symlink_to("d")
    paths = ["d/a", "d/b", "d/link", "d/none", "away/a", "away/link", "away/none"]
    tree = Tree(root, access)
    before = {name: tree.stat_signature(name) for name in paths}
    change(root / path)
    if (root / "d").is_dir():
        put("d/none", "new")
    after = {name: tree.stat_signature(name) for name in paths}
    assert tree.moved(known_of(before.items())) == {name for name in paths if after[name] != before[name]}
    tree.close()


def test_a_change_moves_the_signature(tree: Tree, root: Path, put: Put) -> None:
    put("a", "1")
    before = tree.stat_signature("a")
    put("a.new", "2")
    os.replace(root / "a.new", root / "a")
    assert tree.stat_signature("a") != before


def test_no_descriptor_is_left_open(root: Path, put: Put) -> None:
    put("a/b/c.txt", "x")
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("a/../a/b/../../a/b/c.txt")
    tree = Tree(root)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    tree.read("up", LIMIT)
    tree.list("a/b")
    for path in ("loop", "a/b", "a/none", "a/b/c.txt/d"):
        refused(tree, path)
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    tree.close()
    assert after == before


def test_threads_listing_one_folder_see_all_of_it(root: Path, put: Put) -> None:
    for number in range(200):
        put(f"{number:03}", "")
    tree = Tree(root)
    counts: list[int] = []
    threads = [threading.Thread(target=lambda: counts.extend(len(tree.list(".")) for _ in range(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tree.close()
    assert counts == [200] * 80


@pytest.mark.parametrize("kind", [ByDescriptor, ByPath])
def test_a_step_never_follows_a_link(root: Path, put: Put, kind: Callable[[], Access]) -> None:
    """Even where the look before it still saw a folder or a file."""
    put("real/x", "fine")
    (root / "folder").symlink_to("real")
    (root / "real" / "file").symlink_to("x")
    access = kind()
    folder = access.root(root)
    inner = access.enter(folder, "real")
    with pytest.raises((OSError, Leaves)):
        access.enter(folder, "folder")
    with pytest.raises((OSError, Leaves)):
        access.open(inner, "file")
    access.leave(inner)
    access.leave(folder)


def test_swapping_a_folder_for_a_link_never_leads_out(root: Path, put: Put, tmp_path: Path) -> None:
    """The race that a check by name loses: between the look and the open, the folder becomes a link."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("s3cret")
    put("real/x", "fine")
    (root / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(root / "real", root / "aside")
            os.rename(root / "link", root / "real")
            os.rename(root / "real", root / "link")
            os.rename(root / "aside", root / "real")

    thread = threading.Thread(target=swap)
    tree = Tree(root, ByDescriptor())
    thread.start()
    seen: set[bytes] = set()
    reads = 0
    try:
        while reads < 2000 or seen <= {b"fine"} or b"fine" not in seen:
            reads += 1
            try:
                seen.add(tree.read("real/x", LIMIT).data)
            except FileProblem as problem:
                seen.add(problem.kind.value.encode())
    finally:
        stop.set()
        thread.join()
        tree.close()
    assert b"s3cret" not in seen


NAMES = st.sampled_from(["a", "b", "up", "out", "abs", "loop", "..", ".", "", "/", "x", "a/..", "ws", "secret"])


@settings(max_examples=300)
@given(st.lists(NAMES, max_size=7))
def test_no_path_leads_out(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    top = tmp_path_factory.getbasetemp() / "canonical"
    if not top.exists():
        (top / "ws" / "a" / "b").mkdir(parents=True)
        (top / "secret").mkdir()
        (top / "ws" / "a" / "x").write_text("")
        (top / "secret" / "x").write_text("s3cret")
        (top / "ws" / "a" / "up").symlink_to("..")
        (top / "ws" / "a" / "b" / "out").symlink_to("../../../secret")
        (top / "ws" / "up").symlink_to("..")
        (top / "ws" / "abs").symlink_to(top / "ws" / "a")
        (top / "ws" / "a" / "loop").symlink_to("../a/b/../loop")
    tree = Tree(top / "ws")
    try:
        path = "/".join(parts)
        try:
            canonical = tree.canonical(path)
        except FileProblem:
            return
        assert os.path.realpath(top / "ws" / path) == os.path.normpath(top / "ws" / canonical)
        assert not os.path.relpath(os.path.realpath(top / "ws" / path), top / "ws").startswith("..")
    finally:
        tree.close()


@pytest.mark.skipif(not isinstance(best_access(), ByDescriptor), reason="folders are not held open here")
def test_a_root_that_was_replaced_is_followed_and_readers_end_in_the_old_one(root: Path, put: Put) -> None:
    put("a/x.txt", "old")
    tree = Tree(root)
    with tree.holding("a/x.txt") as (folder, name):
        os.rename(root, root.with_name("away"))
        assert not tree.follow()
        assert tree.read("a/x.txt", 10).data == b"old"
        put("a/x.txt", "new")
        assert tree.follow()
        assert tree.read("a/x.txt", 10).data == b"new"
        os.stat(name, dir_fd=folder)
    descriptors = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    for _ in range(5):
        os.rename(root, root.with_name(f"{root.name}-{len(os.listdir(root.parent))}"))
        put("a/x.txt", "newer")
        assert tree.follow()
    assert not descriptors or len(os.listdir("/proc/self/fd")) == len(descriptors)
    tree.close()
