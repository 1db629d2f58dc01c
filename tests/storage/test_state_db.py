"""The database file: private, versioned, honest about damage, and untouched by those who only look."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from evatui.kernel.storage.database import Database, StorageError
from evatui.kernel.storage.history import History
from evatui.kernel.storage.state_store import MISSING, StateStore

NOW = dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".eva" / "state.db"


def test_the_file_and_its_side_files_are_private(path: Path) -> None:
    database = Database(path)
    StateStore(database).set("a", 1, "k", 1)
    assert {file.name for file in path.parent.iterdir()} == {"state.db", "state.db-wal", "state.db-shm"}
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
    database.close()
    database.close()


def test_what_was_stored_is_there_after_a_restart(path: Path) -> None:
    database = Database(path)
    StateStore(database).set("a", 1, "k", {"n": [1, None, "é"]})
    database.close()
    database = Database(path)
    assert StateStore(database).get("a", 1, "k") == ({"n": [1, None, "é"]}, 1)
    database.close()


def test_no_commit_merges_into_the_file_but_the_one_who_looks_after_it(path: Path) -> None:
    database = Database(path)
    store = StateStore(database)
    database.look()
    size = path.stat().st_size
    for number in range(20):
        store.set(f"a{number}", 1, "k", "x" * 300_000)
    assert path.stat().st_size == size
    database.look()
    assert path.stat().st_size > 5_000_000
    store.set("a", 1, "after", 1)
    database.close()
    database = Database(path)
    assert StateStore(database).get("a19", 1, "k")[0] == "x" * 300_000
    assert StateStore(database).get("a", 1, "after")[0] == 1
    database.close()


def test_a_file_that_is_no_database_is_explained(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is not a database, only a text that is long enough to look" * 40)
    with pytest.raises(StorageError, match=r"state\.db is damaged.*move it away") as caught:
        Database(path)
    assert str(path.parent) not in caught.value.message
    with pytest.raises(StorageError, match="damaged"):
        Database.copy_of(path)


def test_damage_within_is_explained_when_it_is_met(path: Path) -> None:
    database = Database(path)
    store = StateStore(database)
    for number in range(200):
        store.set("a", 1, f"k{number}", "x" * 500)
    database.close()
    data = bytearray(path.read_bytes())
    whole = len(data) // 2  # the tables are named on the first pages
    data[whole:] = b"\xff" * (len(data) - whole)
    path.write_bytes(data)
    database = Database(path)
    with pytest.raises(StorageError, match="damaged"), database.transaction() as rows:
        rows.execute("SELECT count(*), sum(bytes) FROM state").fetchall()
    database.close()


def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    Database(path).close()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(StorageError, match="newer version"):
        Database(path)
    with pytest.raises(StorageError, match="newer version"):
        Database.copy_of(path)


def test_a_planted_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "target")
    with pytest.raises(StorageError, match="cannot be opened"):
        Database(path)
    assert not (tmp_path / "target").exists()


def test_a_writer_that_takes_too_long_is_named_and_worth_a_retry(path: Path, monkeypatch) -> None:
    monkeypatch.setattr("evatui.kernel.storage.database._BUSY_TIMEOUT_S", 0.01)
    database = Database(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="in use") as caught, database.transaction():
        pass
    assert caught.value.busy
    other.close()
    database.close()


def test_a_transaction_that_fails_leaves_nothing(path: Path) -> None:
    database = Database(path)

    def fail_half_way() -> None:
        with database.transaction() as rows:
            rows.execute("INSERT INTO holds VALUES ('a', 'drained')")
            raise KeyError

    with pytest.raises(KeyError):
        fail_half_way()
    assert History(database).holds() == {}
    database.close()


def test_a_reader_sees_the_rows_and_changes_no_file(path: Path) -> None:
    database = Database(path)
    StateStore(database).set("a", 1, "k", "v")
    History(database).record_generation("a", "1.0.0", "d1", NOW)
    database.close()
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    copy = Database.copy_of(path)
    assert StateStore(copy).get("a", 1, "k") == ("v", 1)
    assert History(copy).record_generation("a", "1.0.0", "d2", NOW).number == 2
    copy.close()
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_reader_of_a_database_in_use_sees_what_was_committed(path: Path) -> None:
    database = Database(path)
    StateStore(database).set("a", 1, "k", "v")
    copy = Database.copy_of(path)
    assert StateStore(copy).get("a", 1, "k") == ("v", 1)
    StateStore(copy).set("a", 1, "k", "w")
    assert StateStore(database).get("a", 1, "k") == ("v", 1)
    copy.close()
    database.close()


def test_a_reader_of_nothing_gets_an_empty_one_and_creates_nothing(path: Path) -> None:
    copy = Database.copy_of(path)
    assert StateStore(copy).get("a", 1, "k") == (MISSING, 0)
    assert History(copy).record_generation("a", "1.0.0", "d", NOW).number == 1
    assert not path.parent.exists()
    copy.close()


_KILLED = """
import os, signal, sys
from pathlib import Path
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.state_store import StateStore
store = StateStore(Database(Path(sys.argv[1])))
for n in range(50):
    version = store.set("a", 1, "k", n)
print(version, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_kill_9_loses_nothing_that_was_acknowledged(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout == "50\n"
    database = Database(path)
    assert StateStore(database).get("a", 1, "k") == (49, 50)
    database.close()


@pytest.mark.parametrize("gone", [["state.db"], ["state.db", "state.db-wal", "state.db-shm"]])
def test_a_deleted_file_is_written_again_with_all_that_was_stored(path: Path, gone: list[str]) -> None:
    database = Database(path)
    store = StateStore(database)
    store.set("a", 1, "k", "kept")
    assert database.look() == ""
    for name in gone:
        (path.parent / name).unlink()
    assert "deleted" in database.look()
    assert database.look() == ""
    store.set("a", 1, "later", 2)
    assert {file.name for file in path.parent.iterdir()} == {"state.db", "state.db-wal", "state.db-shm"}
    database.close()
    with contextlib.closing(Database(path)) as again:
        assert [StateStore(again).get("a", 1, key)[0] for key in ("k", "later")] == ["kept", 2]


def test_a_folder_that_is_gone_is_made_again(path: Path) -> None:
    database = Database(path)
    StateStore(database).set("a", 1, "k", "kept")
    shutil.rmtree(path.parent)
    assert "deleted" in database.look()
    database.close()
    with contextlib.closing(Database(path)) as again:
        assert StateStore(again).get("a", 1, "k")[0] == "kept"


def test_another_file_in_its_place_is_left_alone_and_nothing_is_stored_any_more(path: Path) -> None:
    database = Database(path)
    path.rename(path.with_name("old"))
    path.write_bytes(b"somebody's")
    assert "replaced" in database.look()
    with pytest.raises(StorageError, match="replaced"), database.transaction():
        pass
    database.close()
    assert path.read_bytes() == b"somebody's"
    assert database.look()


@pytest.mark.parametrize("open_it", [Database, Database.copy_of])
def test_a_pipe_in_its_place_is_waited_for_by_nobody(path: Path, open_it) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(StorageError, match="not a regular file"):
        open_it(path)
