"""What was admitted can be had again, to the byte, whatever became of the files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from evatui.kernel.storage.content_store import ContentLost, ContentStore
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.schema import CONTENT
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import open_layout
from evatui.kernel.workspace.snapshot import Snapshot, take_snapshot
from tests.support.workspaces import GREETER, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "ws", GREETER)
    return tmp_path / "ws"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store" / "content.db"


@pytest.fixture
def store(file: Path) -> Iterator[ContentStore]:
    store = ContentStore(lambda: Database(file, CONTENT))
    yield store
    store.close()


@pytest.fixture
def shot(root: Path) -> Callable[[], Snapshot]:
    manifest = next(path for path in GREETER if path.endswith(".yaml") and "policies" not in path)

    def shot() -> Snapshot:
        tree = Tree(root)
        try:
            return take_snapshot(tree, open_layout(root), manifest)
        finally:
            tree.close()

    return shot


def script_of(root: Path) -> Path:
    return root / next(path for path in GREETER if path.endswith(".lua"))


def contents(snapshot: Snapshot) -> dict[str, bytes]:
    return {path: file.data for path, file in snapshot.files.items()} | {snapshot.path: snapshot.manifest.data}


def test_a_version_comes_back_when_its_files_are_gone(
    store: ContentStore, shot: Callable[[], Snapshot], root: Path
) -> None:
    before = shot()
    store.save(before)
    script_of(root).unlink()
    again = store.load(before.digest)
    assert contents(again) == contents(before)
    assert (again.digest, again.path, again.problems) == (before.digest, before.path, ())
    assert again.document is not None
    assert before.document is not None
    assert again.document.tree == before.document.tree


def test_it_outlives_its_store_and_is_saved_once(store: ContentStore, shot: Callable[[], Snapshot], file: Path) -> None:
    before = shot()
    store.save(before)
    store.save(before)
    store.close()
    other = ContentStore(lambda: Database.copy_of(file, CONTENT))
    assert contents(other.load(before.digest)) == contents(before)
    other.close()


def test_only_what_is_retained_stays_and_shared_files_stay_with_it(
    store: ContentStore, shot: Callable[[], Snapshot], root: Path, file: Path
) -> None:
    first = shot()
    store.save(first)
    script_of(root).write_text("function invoke() return {ok = true} end")
    second = shot()
    store.save(second)
    store.retain([second.digest])
    assert contents(store.load(second.digest)) == contents(second)
    with pytest.raises(ContentLost, match="not kept"):
        store.load(first.digest)
    with closing(sqlite3.connect(file)) as rows:
        kept = {digest for (digest,) in rows.execute("SELECT digest FROM blobs")}
    assert kept == {second.manifest.digest, *(found.digest for found in second.files.values())}


def test_a_version_that_is_let_go_of_takes_only_its_own_bytes_along(
    store: ContentStore, shot: Callable[[], Snapshot], root: Path, file: Path
) -> None:
    first = shot()
    store.save(first)
    script_of(root).write_text("function invoke() return {ok = true} end")
    second = shot()
    store.save(second)
    store.let_go([first.digest, "never saved"])
    assert contents(store.load(second.digest)) == contents(second)
    with closing(sqlite3.connect(file)) as rows:
        kept = {digest for (digest,) in rows.execute("SELECT digest FROM blobs")}
    assert kept == {second.manifest.digest, *(found.digest for found in second.files.values())}


def test_the_store_of_an_earlier_version_is_taken_over(shot: Callable[[], Snapshot], root: Path, file: Path) -> None:
    before = Database(file, CONTENT[:1])
    first = shot()
    blobs = [(one.digest, one.data) for one in (first.manifest, *first.files.values())]
    named = orjson.dumps({path: (one.path, one.digest) for path, one in first.files.items()}).decode()
    with before.transaction() as rows:
        rows.executemany("INSERT INTO blobs VALUES (?, ?)", blobs)
        rows.execute("INSERT INTO closures VALUES (?, ?, ?, ?)", (first.digest, first.path, blobs[0][0], named))
        rows.execute("INSERT INTO closures VALUES ('harmed', 'a.yaml', ?, '[1')", (blobs[0][0],))
    before.close()
    store = ContentStore(lambda: Database(file, CONTENT))
    script_of(root).write_text("function invoke() return {ok = true} end")
    second = shot()
    store.save(second)
    store.let_go(["harmed"])
    assert contents(store.load(first.digest)) == contents(first)
    store.let_go([first.digest])
    with closing(sqlite3.connect(file)) as rows:
        kept = {digest for (digest,) in rows.execute("SELECT digest FROM blobs")}
    assert kept == {second.manifest.digest, *(found.digest for found in second.files.values())}
    store.close()


@pytest.mark.parametrize(
    "harm", ["UPDATE blobs SET data = data || x'20'", "DELETE FROM blobs", "UPDATE closures SET files = '[1]'"]
)
def test_what_was_tampered_with_is_never_given(
    store: ContentStore, shot: Callable[[], Snapshot], file: Path, harm: str
) -> None:
    snapshot = shot()
    store.save(snapshot)
    with closing(sqlite3.connect(file)) as rows:
        rows.execute(harm)
        rows.commit()
    with pytest.raises(ContentLost, match="damaged"):
        store.load(snapshot.digest)
