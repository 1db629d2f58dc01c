"""The law of the chain: what was not written so is found, and named for what was done to it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.damage import Damage
from evatui.kernel.records.verify import verify
from evatui.kernel.workspace.settings import AuditSettings

RECORDS = 12


SETTINGS = AuditSettings(rotate_bytes=1_500, keep_files=100)


def written(directory: Path) -> list[tuple[Path, list[bytes]]]:
    log = AuditLog.open(directory, SETTINGS, SYSTEM_CLOCK)
    for number in range(RECORDS):
        log.final(log.begin(), {"code": Code.CALL_OK, "outcome": Outcome.OK, "request_id": f"req_{number}"})
    log.close()
    files = sorted(directory.glob("*.jsonl"), key=lambda path: int(path.stem.split("-")[1]))
    return [(path, path.read_bytes().splitlines(keepends=True)) for path in files]


def store(files: list[tuple[Path, list[bytes]]]) -> None:
    for path, lines in files:
        path.write_bytes(b"".join(lines))


def places(files: list[tuple[Path, list[bytes]]]) -> list[tuple[int, int]]:
    return [(file, line) for file, (_, lines) in enumerate(files) for line in range(len(lines))]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_changing_any_byte_of_a_record_that_has_a_successor_is_found(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = written(Path(folder) / "audit")
        file, line = data.draw(st.sampled_from(places(files)[:-1]))
        text = bytearray(files[file][1][line])
        at = data.draw(st.integers(0, len(text) - 2))
        text[at] = data.draw(st.integers(32, 126).filter(lambda byte: byte != text[at]))
        files[file][1][line] = bytes(text)
        store(files)
        assert not verify(Path(folder) / "audit").ok


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_an_edit_names_the_record(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = written(Path(folder) / "audit")
        file, line = data.draw(st.sampled_from(places(files)[:-1]))
        record = orjson.loads(files[file][1][line])
        record["outcome"] = "denied"
        files[file][1][line] = orjson.dumps(record) + b"\n"
        store(files)
        bad = verify(Path(folder) / "audit").first_bad
        assert (bad.kind, bad.seq) == (Damage.EDIT, record["seq"])
        assert (bad.file, bad.line) == (files[file][0].name, line + 1)


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_a_missing_record_is_a_truncation(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = written(Path(folder) / "audit")
        file, line = data.draw(st.sampled_from(places(files)[:-1]))
        gone = orjson.loads(files[file][1].pop(line))
        store(files)
        bad = verify(Path(folder) / "audit").first_bad
        assert (bad.kind, bad.seq) == (Damage.TRUNCATION, gone["seq"])


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_two_records_that_changed_places_are_a_reorder(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = written(Path(folder) / "audit")
        one, other = sorted(
            data.draw(st.lists(st.sampled_from(places(files)[1:]), min_size=2, max_size=2, unique=True))
        )
        first = orjson.loads(files[one[0]][1][one[1]])["seq"]
        lines = files[one[0]][1], files[other[0]][1]
        lines[0][one[1]], lines[1][other[1]] = lines[1][other[1]], lines[0][one[1]]
        store(files)
        bad = verify(Path(folder) / "audit").first_bad
        assert (bad.kind, bad.seq) == (Damage.REORDER, first)


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_a_file_cut_in_the_middle_of_a_record_is_a_truncation(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = written(Path(folder) / "audit")
        path, lines = files[-1]
        cut = data.draw(st.integers(1, len(lines[-1]) - 1))
        path.write_bytes(b"".join(lines)[:-cut])
        assert verify(Path(folder) / "audit").first_bad.kind is Damage.TRUNCATION


def test_verify_changes_nothing_and_an_empty_log_is_sound(tmp_path: Path) -> None:
    nothing = {"signed": None, "past_head": 0, "pruned": 0, "unsealed": 0}
    found = verify(tmp_path / "none").to_json()
    assert found == {"ok": True, "records": 0, "head": None, "first_bad": None, **nothing}
    files = written(tmp_path / "audit")
    found = verify(tmp_path / "audit")
    assert found.ok
    assert found.records == len(places(files))
    assert [(path, path.read_bytes().splitlines(keepends=True)) for path, _ in files] == files


def test_a_first_record_that_begins_no_chain_is_an_edit(tmp_path: Path) -> None:
    files = written(tmp_path / "audit")
    record = orjson.loads(files[0][1][0])
    files[0][0].write_bytes(orjson.dumps(record | {"prev": "f" * 64}) + b"\n")
    for path, _ in files[1:]:
        path.unlink()
    assert verify(tmp_path / "audit").first_bad.kind is Damage.EDIT
