"""A log with a signed head: each kind of tampering is found, and named for what it is."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.damage import Damage
from evatui.kernel.records.head import Seal
from evatui.kernel.records.record import line_hash
from evatui.kernel.records.verify import Verification, verify
from evatui.kernel.workspace.settings import AuditSettings

SETTINGS = AuditSettings(rotate_bytes=2_000, keep_files=100)


class Ground:
    """A log, and the folder of the operator who signs it."""

    def __init__(self, root: Path) -> None:
        self.directory, self.folder = root / ".eva/audit", root / "config/audit"

    @property
    def seal(self) -> Seal:
        return Seal(self.folder, self.directory)

    def open(self) -> AuditLog:
        return AuditLog.open(self.directory, SETTINGS, SYSTEM_CLOCK, seal=self.seal)

    def run(self, count: int) -> None:
        log = self.open()
        record(log, count)
        log.close()

    @property
    def files(self) -> list[Path]:
        return sorted(self.directory.glob("audit-*.jsonl"), key=lambda path: int(path.stem.split("-")[1]))

    @property
    def head(self) -> Path:
        return self.directory / "head.json"

    def lines(self) -> list[bytes]:
        return [line for path in self.files for line in path.read_bytes().splitlines()]

    def store(self, lines: list[bytes]) -> None:
        """In the files that are there, each from its first record on."""
        firsts = [int(path.stem.split("-")[1]) for path in self.files] + [1 << 60]
        for path, first, following in zip(self.files, firsts, firsts[1:], strict=False):
            path.write_bytes(b"".join(line + b"\n" for line in lines[first - 1 : following - 1]))

    def verify(self) -> Verification:
        return verify(self.directory, self.seal)


def record(log: AuditLog, count: int) -> None:
    for number in range(count):
        log.final(log.begin(), {"code": Code.CALL_OK, "outcome": Outcome.OK, "request_id": f"req_{number}"}).wait()


def chained(lines: list[bytes]) -> list[bytes]:
    """Each with the ``prev`` that makes it fit."""
    done: list[bytes] = []
    for line in lines:
        found = orjson.loads(line)
        done.append(orjson.dumps(found | {"prev": line_hash(done[-1])} if done else found))
    return done


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


Tamper = Callable[[Ground, st.DataObject], "tuple[Damage, int | None]"]


def edit(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    lines = ground.lines()
    at = data.draw(st.integers(0, len(lines) - 1))
    lines[at] = lines[at].replace(b'"ok"', b'"denied"', 1).replace(b"rotated", b"ROTATED", 1)
    ground.store(lines)
    return Damage.EDIT, at + 1


def delete_in_the_middle(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    lines = ground.lines()
    at = data.draw(st.integers(0, len(lines) - 2))
    path = next(path for path in ground.files if lines[at] in path.read_bytes())
    path.write_bytes(path.read_bytes().replace(lines[at] + b"\n", b""))
    return Damage.TRUNCATION, at + 1


def cut_the_tail(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    lines = ground.lines()
    kept = data.draw(st.integers(0, len(lines) - 1))
    ground.store(lines[:kept])
    return Damage.TRUNCATION, kept + 1


def swap_two_files(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    one, other = sorted(
        data.draw(st.lists(st.sampled_from(range(len(ground.files))), min_size=2, max_size=2, unique=True))
    )
    paths = ground.files[one], ground.files[other]
    contents = [path.read_bytes() for path in paths]
    for path, content in zip(paths, reversed(contents), strict=True):
        path.write_bytes(content)
    return Damage.SWAPPED_FILES, int(paths[0].stem.split("-")[1])


def swap_two_records(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    lines = ground.lines()
    at = data.draw(st.integers(1, len(lines) - 2))
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    ground.store(lines)
    return Damage.REORDER, at + 1


def append_forged_records(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    lines = ground.lines()
    last = len(lines)
    for more in range(data.draw(st.integers(1, 4))):
        forged = orjson.loads(lines[last - 1]) | {"seq": last + 1 + more, "request_id": "forged"}
        lines.append(orjson.dumps(forged))
    ground.store(chained(lines))
    return Damage.FORGERY, last + 1


def append_a_record_that_does_not_fit(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    lines = ground.lines()
    last = len(lines)
    ground.store([*lines, orjson.dumps(orjson.loads(lines[-1]) | {"seq": last + 1})])
    return Damage.FORGERY, last + 1


def rename_the_newest_file(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    number = data.draw(st.integers(len(ground.lines()) + 1, 1 << 40))
    ground.files[-1].rename(ground.directory / f"audit-{number}.jsonl")
    return Damage.REORDER, number


def add_an_empty_file(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    number = len(ground.lines()) + data.draw(st.integers(2, 1 << 40))
    (ground.directory / f"audit-{number}.jsonl").touch()
    return Damage.REORDER, number


def write_anew(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    lines = ground.lines()
    at = data.draw(st.integers(0, len(lines) - 2))
    lines[at] = orjson.dumps(orjson.loads(lines[at]) | {"outcome": "denied", "code": "call.denied"})
    ground.store(chained(lines))
    return Damage.FORK, len(lines)


def restore_an_old_head(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    old, before = ground.head.read_bytes(), len(ground.lines())
    ground.run(data.draw(st.integers(1, 4)))
    ground.head.write_bytes(old)
    return Damage.OLD_HEAD, before + 1


def restore_an_old_log(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    """With its head, which fits it."""
    old, before = {path: path.read_bytes() for path in [*ground.files, ground.head]}, len(ground.lines())
    ground.run(data.draw(st.integers(1, 4)))
    shutil.rmtree(ground.directory)
    ground.directory.mkdir(mode=0o700)
    for path, content in old.items():
        path.write_bytes(content)
    return Damage.OLD_HEAD, before + 1


def sign_with_another_key(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    other = Seal(ground.folder.parent / "mallory", ground.directory)
    other.sign(ground.seal.head().head)  # type: ignore[union-attr]
    return Damage.HEAD, None


def change_the_head(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    head = json.loads(ground.head.read_bytes())
    name = data.draw(st.sampled_from(["seq", "count", "hash", "prev", "at", "clean", "key", "signature"]))
    changed = {"seq": head["seq"] - 1, "count": 0, "clean": False}.get(name, "0" * 64)
    ground.head.write_bytes(orjson.dumps(head | {name: changed}))
    return Damage.HEAD, None


def take_the_head_away(ground: Ground, data: st.DataObject) -> tuple[Damage, int | None]:
    how = data.draw(st.sampled_from(["unlink", "empty", "folder"]))
    ground.head.unlink()
    if how == "empty":
        ground.head.touch()
    elif how == "folder":
        ground.head.mkdir()
    return Damage.HEAD, None


MISNAMED = (rename_the_newest_file, add_an_empty_file)


@pytest.mark.parametrize(
    "tamper",
    [
        edit,
        delete_in_the_middle,
        cut_the_tail,
        swap_two_files,
        swap_two_records,
        append_forged_records,
        append_a_record_that_does_not_fit,
        rename_the_newest_file,
        add_an_empty_file,
        write_anew,
        restore_an_old_head,
        restore_an_old_log,
        sign_with_another_key,
        change_the_head,
        take_the_head_away,
    ],
)
@given(st.data())
@settings(max_examples=4, deadline=None)
def test_tampering_is_named_before_a_start_and_after_it(tamper: Tamper, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground(Path(folder))
        ground.run(14)
        assert ground.verify().ok
        kind, seq = tamper(ground, data)
        bad = ground.verify().first_bad
        assert bad is not None
        assert (bad.kind, bad.seq) == (kind, seq if seq is not None else bad.seq), bad
        if kind in (Damage.OLD_HEAD, Damage.FORK, Damage.FORGERY, Damage.HEAD) or tamper in MISNAMED:
            log = ground.open()  # which signs a head anew, and gives files their names
            assert log.health[:2] == (False, "damaged")
            log.close()
            found = ground.verify().first_bad
            assert found is not None
            assert found.kind is kind or tamper is append_a_record_that_does_not_fit  # nobody vouches for its place now


@pytest.mark.parametrize("how", ["renamed", "copied", "empty", "foreign"])
def test_a_file_of_a_wrong_number_is_put_in_order_at_a_start(ground: Ground, how: str) -> None:
    """Else the chain would run into it, or on behind it."""
    ground.run(14)
    wrong = ground.directory / "audit-5000.jsonl"
    if how == "renamed":
        ground.files[-1].rename(wrong)
    else:
        wrong.write_bytes({"copied": ground.files[0].read_bytes(), "empty": b"", "foreign": b"no record\n"}[how])
    before = sorted((path.stem, path.read_bytes()) for path in ground.directory.glob("audit-*"))
    ground.run(14)
    found = ground.verify()
    assert found.first_bad is not None
    assert "found at a start: audit-5000.jsonl" in found.first_bad.message
    lines = [orjson.loads(line) for line in ground.lines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    kept = b"".join(path.read_bytes() for path in ground.directory.glob("audit-*"))
    assert all(content in kept for _, content in before), "nothing is thrown away"
    assert wrong.exists() is False
    assert (ground.directory / "audit-5000.aside").exists() is (how != "renamed")


def test_the_head_is_exact_after_a_clean_end(ground: Ground) -> None:
    ground.run(3)
    found = ground.verify()
    assert (found.ok, found.records, found.past_head) == (True, 3, 0)
    assert found.signed is not None
    assert (found.signed["seq"], found.signed["count"], found.signed["clean"]) == (3, 3, True)
    assert found.signed["hash"] == found.head


def test_the_head_follows_by_itself(ground: Ground) -> None:
    log = ground.open()
    record(log, 2)
    while (head := ground.seal.head()) is None or head.head.seq < 2:
        time.sleep(0.01)
    assert not head.head.clean
    assert ground.verify().ok
    log.close()


def test_the_key_is_the_operators_alone_and_outside(ground: Ground) -> None:
    ground.run(1)
    key = ground.folder / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert ground.folder.stat().st_mode & 0o777 == 0o700
    seed = key.read_text().strip()
    for path in ground.directory.iterdir():
        assert seed.encode() not in path.read_bytes()


def test_a_key_that_others_may_read_signs_nothing_and_says_so(ground: Ground) -> None:
    ground.run(1)
    (ground.folder / "key").chmod(0o644)
    log = ground.open()
    record(log, 1)
    log.close()
    assert log.health[1] == "unavailable"
    (ground.folder / "key").chmod(0o600)
    found = ground.verify()
    assert found.first_bad is not None
    assert found.first_bad.kind is Damage.FORGERY


def test_a_head_that_cannot_be_signed_shows_and_calls_go_on(ground: Ground) -> None:
    ground.folder.parent.mkdir()
    ground.folder.write_text("in the way")
    log = ground.open()
    record(log, 1)
    while log.health[0]:
        time.sleep(0.01)
    assert log.health[:2] == (False, "unsealed")
    record(log, 1)
    ground.folder.unlink()
    while not log.health[0]:
        time.sleep(0.01)
    log.close()
    assert ground.verify().signed["seq"] == 2  # type: ignore[index]


def test_records_after_a_crash_are_taken_over_and_counted(ground: Ground) -> None:
    ground.run(2)
    log = ground.open()
    head, copies = ground.head.read_bytes(), {path: path.read_bytes() for path in ground.folder.iterdir()}
    record(log, 3)
    log.close("the process died")
    ground.head.write_bytes(head)  # as it was when the process died
    for path, content in copies.items():
        path.write_bytes(content)
    found = ground.verify()
    assert (found.ok, found.past_head, found.unsealed) == (True, 3, 0)
    ground.run(0)
    found = ground.verify()
    assert (found.ok, found.past_head, found.unsealed) == (True, 0, 3)
    assert orjson.loads(ground.lines()[-1])["details"] == {"first_seq": 3, "last_seq": 5}


def test_pruned_records_are_counted(ground: Ground) -> None:
    log = AuditLog.open(
        ground.directory, AuditSettings(rotate_bytes=2_000, keep_files=2), SYSTEM_CLOCK, seal=ground.seal
    )
    record(log, 40)
    log.close()
    found = ground.verify()
    assert found.ok
    assert found.pruned == orjson.loads(ground.lines()[0])["seq"] - 1 > 0
    assert found.signed["count"] == found.records  # type: ignore[index]


def test_a_log_that_is_gone_with_its_head_begins_anew_and_says_so(ground: Ground) -> None:
    ground.run(3)
    shutil.rmtree(ground.directory)
    ground.run(1)
    first = orjson.loads(ground.lines()[0])
    assert (first["code"], first["details"]["last_seq"]) == ("audit.started_over", 3)
    assert ground.verify().ok


def test_a_log_that_moves_keeps_its_head(ground: Ground, tmp_path: Path) -> None:
    ground.run(3)
    moved = Ground(tmp_path / "moved")
    moved.folder = ground.folder
    os.renames(ground.directory, moved.directory)
    assert moved.verify().ok
    moved.run(1)
    assert moved.verify().ok
