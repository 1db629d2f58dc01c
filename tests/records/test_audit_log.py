"""The audit log on real files: what is accepted stays, in order, and whatever happens to it is said."""

from __future__ import annotations

import json
import os
import resource
import shutil
import threading
from pathlib import Path

import pytest

from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.damage import Damage
from evatui.kernel.records.memory import MemoryAudit
from evatui.kernel.records.verify import verify
from evatui.kernel.workspace.settings import AuditMode, AuditSettings

CALLER = Actor(CallerType.CLI, "ada")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / ".eva" / "audit"


def open_log(directory: Path, **settings) -> AuditLog:
    return AuditLog.open(directory, AuditSettings(**settings), SYSTEM_CLOCK)


def call(request_id: str = "req_1", **fields) -> dict:
    about = {"actor": CALLER.to_json(), "capability_id": "topic-normalize", "capability": "topic.normalize"}
    return {**about, "request_id": request_id, "trace_id": "tr_1", **fields}


def end(request_id: str = "req_1", **fields) -> dict:
    return call(request_id, code=Code.CALL_OK, outcome=Outcome.OK, duration_us=12, **fields)


def record_calls(log: AuditLog, count: int) -> None:
    for number in range(count):
        log.final(log.begin(), end(f"req_{number}"))


def records(directory: Path) -> list[dict]:
    files = sorted(directory.glob("audit-*.jsonl"), key=lambda path: int(path.stem.removeprefix("audit-")))
    return [json.loads(line) for path in files for line in path.read_bytes().splitlines()]


def test_a_record_has_its_keys_in_their_order(directory: Path) -> None:
    log = open_log(directory)
    log.final(log.begin(), end(host_calls=[{"fn": "now", "target": "", "duration_us": 1, "outcome": "ok"}]))
    log.close()
    [record] = records(directory)
    assert " ".join(record) == (
        "seq at code outcome actor capability_id capability generation script_digest manifest_digest request_id "
        "trace_id duration_us error_kind input output host_calls prev"
    )
    assert record["code"] == "call.ok"
    assert record["actor"] == {"type": "cli", "id": "ada"}
    assert record["prev"] == "0" * 64


def test_the_first_file_is_private_and_named_by_its_first_record(directory: Path) -> None:
    log = open_log(directory)
    log.note(Code.RUNTIME_STARTED, Outcome.OK)
    assert [path.name for path in directory.glob("*.jsonl")] == ["audit-1.jsonl"]
    assert (directory / "audit-1.jsonl").stat().st_mode & 0o777 == 0o600
    assert directory.stat().st_mode & 0o777 == 0o700
    log.close()


def test_a_directory_that_others_could_read_is_closed_to_them(directory: Path) -> None:
    directory.mkdir(parents=True, mode=0o755)
    open_log(directory).close()
    assert directory.stat().st_mode & 0o777 == 0o700


def test_a_restart_continues_the_file_and_the_chain(directory: Path) -> None:
    for _ in range(3):
        log = open_log(directory)
        record_calls(log, 2)
        log.close()
    assert [record["seq"] for record in records(directory)] == [1, 2, 3, 4, 5, 6]
    assert len(list(directory.glob("*.jsonl"))) == 1
    assert verify(directory).ok


def test_fields_beyond_the_shape_stand_under_details(directory: Path) -> None:
    log = open_log(directory)
    log.note(Code.CAPABILITY_PUBLISHED, Outcome.OK, CALLER, capability_id="a", from_generation="a@1.0.0")
    log.close()
    [record] = records(directory)
    assert record["capability_id"] == "a"
    assert record["details"] == {"from_generation": "a@1.0.0"}
    assert list(record)[-1] == "prev"


def test_files_rotate_and_the_chain_runs_on(directory: Path) -> None:
    log = open_log(directory, rotate_bytes=2_000, keep_files=100)
    record_calls(log, 30)
    log.close()
    assert len(list(directory.glob("*.jsonl"))) > 3
    for path in directory.glob("*.jsonl"):
        first = json.loads(path.read_bytes().splitlines()[0])
        assert path.name == f"audit-{first['seq']}.jsonl"
    found = verify(directory)
    assert found.ok
    assert found.records == len(records(directory))


def test_old_files_are_pruned_and_leave_a_record(directory: Path) -> None:
    log = open_log(directory, rotate_bytes=2_000, keep_files=3)
    record_calls(log, 60)
    log.close()
    assert len(list(directory.glob("*.jsonl"))) == 3
    pruned = [record["details"] for record in records(directory) if record["code"] == "audit.pruned"]
    first = records(directory)[0]
    assert pruned[-1]["last_seq"] == first["seq"] - 1
    assert pruned[-1]["last_hash"] == first["prev"]
    assert verify(directory).ok


def test_removing_the_oldest_file_by_hand_is_found(directory: Path) -> None:
    log = open_log(directory, rotate_bytes=2_000, keep_files=100)
    record_calls(log, 30)
    log.close()
    (directory / "audit-1.jsonl").unlink()
    found = verify(directory)
    assert found.first_bad is not None
    assert found.first_bad.kind is Damage.TRUNCATION
    assert "nothing says that they were pruned" in found.first_bad.message


def test_a_torn_tail_is_closed_by_a_record(directory: Path) -> None:
    log = open_log(directory)
    record_calls(log, 2)
    log.close()
    with (directory / "audit-1.jsonl").open("ab") as file:
        file.write(b'{"seq":3,"at":"2026')
    assert verify(directory).first_bad.kind is Damage.TRUNCATION
    log = open_log(directory)
    record_calls(log, 1)
    log.close()
    assert [record["code"] for record in records(directory)] == ["call.ok", "call.ok", "audit.torn_tail", "call.ok"]
    assert records(directory)[2]["details"]["bytes"] == 19
    assert verify(directory).ok


def test_a_file_of_nothing_but_a_torn_line_is_closed_too(directory: Path) -> None:
    log = open_log(directory, rotate_bytes=100, keep_files=100)
    record_calls(log, 2)
    log.close()
    last = records(directory)[-1]["seq"]
    (directory / f"audit-{last + 1}.jsonl").write_bytes(b'{"se')
    log = open_log(directory)
    log.close()
    assert records(directory)[-1]["code"] == "audit.torn_tail"
    assert verify(directory).ok


def test_an_intent_without_an_end_becomes_unknown(directory: Path) -> None:
    log = open_log(directory)
    ended, lost = log.begin(), log.begin()
    log.intent(ended, call("req_ended", host_calls=[{"fn": "state_set", "target": "k"}]))
    log.intent(lost, call("req_lost", host_calls=[{"fn": "state_set", "target": "k"}]))
    log.intent(lost, call("req_lost", host_calls=[{"fn": "emit_event", "target": "/a"}]))
    log.final(ended, end("req_ended"))
    log.close()
    log = open_log(directory)
    unknown = [record for record in records(directory) if record["outcome"] == "unknown"]
    assert [record["request_id"] for record in unknown] == ["req_lost"]
    assert unknown[0]["code"] == "call.unknown"
    assert unknown[0]["capability"] == "topic.normalize"
    assert unknown[0]["details"] == {"first_intent": 2, "intents": 2}
    log.close()
    open_log(directory).close()
    assert len([record for record in records(directory) if record["outcome"] == "unknown"]) == 1


def test_an_intent_is_remembered_across_rotations(directory: Path) -> None:
    log = open_log(directory, rotate_bytes=1_000, keep_files=2)
    log.intent(log.begin(), call("req_lost", host_calls=[{"fn": "state_set", "target": "k"}]))
    record_calls(log, 20)
    log.close()
    assert "effect.intent" not in {record["code"] for record in records(directory)}
    open_log(directory).close()
    assert records(directory)[-1]["code"] == "call.unknown"
    assert records(directory)[-1]["request_id"] == "req_lost"


def test_a_deleted_file_is_noticed_and_the_chain_runs_on_loudly(directory: Path) -> None:
    log = open_log(directory)
    record_calls(log, 3)
    (directory / "audit-1.jsonl").unlink()
    log.look()
    record_calls(log, 1)
    ok, word, detail = log.health
    assert (ok, word) == (False, "damaged")
    assert "audit-1.jsonl was deleted" in detail
    assert [record["code"] for record in records(directory)] == ["audit.reopened", "call.ok"]
    assert records(directory)[0]["seq"] == 4
    log.close()
    assert verify(directory).first_bad.kind is Damage.TRUNCATION


@pytest.mark.parametrize(
    ("tamper", "cause"),
    [
        (lambda path: (path.rename(path.with_suffix(".old")), path.write_bytes(b"")), "replaced"),
        (lambda path: os.truncate(path, 10), "shortened"),
        (lambda path: path.open("ab").write(b'{"seq":99}\n'), "lengthened"),
    ],
)
def test_a_file_that_somebody_touches_is_left_behind(directory: Path, tamper, cause: str) -> None:
    log = open_log(directory)
    record_calls(log, 2)
    tamper(directory / "audit-1.jsonl")
    log.look()
    record_calls(log, 1)
    log.close()
    fresh = [json.loads(line) for line in (directory / "audit-3.jsonl").read_bytes().splitlines()]
    assert fresh[0]["code"] == "audit.reopened"
    assert fresh[0]["details"]["cause"] == cause
    assert fresh[1]["code"] == "call.ok"


def test_a_folder_that_is_gone_with_all_above_it_is_made_again(directory: Path) -> None:
    log = open_log(directory)
    record_calls(log, 2)
    shutil.rmtree(directory.parent)
    log.look()
    record_calls(log, 1)
    assert log.health[1] == "damaged"
    assert [record["code"] for record in records(directory)] == ["audit.reopened", "call.ok"]
    assert directory.stat().st_mode & 0o777 == 0o700
    log.close()


def test_a_folder_that_cannot_be_made_again_refuses_calls_until_it_can(directory: Path) -> None:
    log = open_log(directory)
    shutil.rmtree(directory)
    directory.write_text("in the way")
    log.look()
    assert log.health[1] == "unavailable"
    with pytest.raises(CallFailed, match="AuditUnavailable"):
        log.begin()
    directory.unlink()
    log.look()
    record_calls(log, 1)
    assert records(directory)[0]["code"] == "audit.reopened"
    assert log.health[1] == "damaged"
    log.close()


def test_a_planted_link_is_not_followed(directory: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"precious\n")
    directory.mkdir(parents=True)
    (directory / "audit-1.jsonl").symlink_to(target)
    with pytest.raises(CallFailed) as caught:
        open_log(directory)
    assert caught.value.error.kind is ErrorKind.AUDIT_UNAVAILABLE
    assert str(tmp_path) not in caught.value.error.message
    assert target.read_bytes() == b"precious\n"


def test_a_second_name_for_the_file_is_refused(directory: Path, tmp_path: Path) -> None:
    open_log(directory).close()
    os.link(directory / "audit-1.jsonl", tmp_path / "other-name")
    with pytest.raises(CallFailed, match="single name"):
        open_log(directory)


def test_a_link_in_place_of_the_directory_is_refused(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    directory.parent.mkdir()
    directory.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CallFailed, match="not a directory"):
        open_log(directory)


def test_a_pipe_is_waited_for_by_nobody(directory: Path) -> None:
    directory.mkdir(parents=True)
    os.mkfifo(directory / "audit-1.jsonl")
    with pytest.raises(CallFailed, match="AuditUnavailable"):
        open_log(directory)
    assert MemoryAudit(SYSTEM_CLOCK, directory).tail(5) == []
    shutil.rmtree(directory)
    os.mkfifo(directory)
    with pytest.raises(CallFailed, match="AuditUnavailable"):
        open_log(directory)
    with pytest.raises(CallFailed, match="AuditUnavailable"):
        MemoryAudit(SYSTEM_CLOCK, directory).tail(5)


def test_what_cannot_be_written_does_not_run_until_it_can(directory: Path) -> None:
    """The kernel's own limit on the size of a file stands in for a full disk: `os.write` really fails, half way."""
    log = open_log(directory)
    record_calls(log, 2)
    running = log.begin()
    size = (directory / "audit-1.jsonl").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, before[1]))
    try:
        with pytest.raises(CallFailed) as caught:
            log.final(running, end("req_cut"))
        assert caught.value.error.kind is ErrorKind.AUDIT_UNAVAILABLE
        assert caught.value.error.details["ran"] is True
        assert not caught.value.error.retryable
        with pytest.raises(CallFailed, match="AuditUnavailable"):
            log.begin()
        log.look()
        with pytest.raises(CallFailed, match="AuditUnavailable"):
            log.begin()
        assert log.health[1] == "unavailable"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    log.look()
    record_calls(log, 1)
    assert log.health == (True, "", "")
    log.close()
    assert [record["code"] for record in records(directory)] == ["call.ok", "call.ok", "audit.recovered", "call.ok"]
    assert verify(directory).ok


def test_a_disk_without_room_for_the_calls_under_way_refuses_new_ones(directory: Path, monkeypatch) -> None:
    log = open_log(directory)
    running = log.begin()
    monkeypatch.setattr("evatui.kernel.records.audit.RESERVED_BYTES", 1 << 60)
    log.look()
    with pytest.raises(CallFailed, match="no space left"):
        log.begin()
    log.final(running, end())
    log.close()
    assert [record["code"] for record in records(directory)] == ["audit.full", "call.ok"]


def test_a_reservation_ends_once(directory: Path) -> None:
    log = open_log(directory)
    reservation = log.begin()
    log.final(reservation, end())
    with pytest.raises(ValueError, match="has ended"):
        log.final(reservation, end())
    unused = log.begin()
    log.release(unused)
    with pytest.raises(ValueError, match="has ended"):
        log.intent(unused, call())
    log.close()


def test_a_closed_log_refuses(directory: Path) -> None:
    log = open_log(directory)
    log.close()
    log.close()
    with pytest.raises(CallFailed, match="closed"):
        log.begin()
    with pytest.raises(CallFailed, match="closed"):
        log.note(Code.RUNTIME_STOPPED, Outcome.OK)


def test_tail_gives_the_newest_across_files_oldest_first(directory: Path) -> None:
    log = open_log(directory, rotate_bytes=1_000)
    record_calls(log, 12)
    assert log.tail(5) == records(directory)[-5:]
    assert log.tail(10_000) == records(directory)
    assert log.tail(0) == []
    log.close()


def test_tail_reads_lines_longer_than_a_block(directory: Path) -> None:
    log = open_log(directory)
    log.note(Code.RUNTIME_STARTED, Outcome.OK, input={"value": "x" * 200_000})
    record_calls(log, 1)
    assert log.tail(2) == records(directory)
    log.close()


def test_since_gives_new_records_and_says_what_it_no_longer_has(directory: Path) -> None:
    log = open_log(directory)
    record_calls(log, 3)
    rows, dropped = log.since(1)
    assert ([row["seq"] for row in rows], dropped) == ([2, 3], 0)
    assert log.since(3) == ([], 0)
    record_calls(log, 2_010)
    rows, dropped = log.since(3)
    assert (len(rows), dropped) == (2_000, 10)
    log.close()


def test_since_begins_with_what_the_last_run_wrote(directory: Path) -> None:
    log = open_log(directory)
    record_calls(log, 3)
    log.close()
    log = open_log(directory)
    assert [row["seq"] for row in log.since(0)[0]] == [1, 2, 3]
    log.close()


def test_the_hook_hears_each_new_record_and_may_come_back(directory: Path) -> None:
    open_log(directory).close()
    log = open_log(directory)
    heard = []
    log.on_append = lambda record: heard.append((record["seq"], len(log.since(0)[0])))
    record_calls(log, 2)
    assert heard == [(1, 1), (2, 2)]
    log.close()


@pytest.mark.parametrize("mode", AuditMode)
def test_many_threads_make_one_chain(directory: Path, mode: AuditMode) -> None:
    log = open_log(directory, mode=mode, rotate_bytes=5_000, keep_files=1_000)
    threads = [threading.Thread(target=record_calls, args=(log, 40)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    assert len([record for record in records(directory) if record["code"] == "call.ok"]) == 160
    assert verify(directory).ok


def test_memory_audit_keeps_records_without_a_file(tmp_path: Path) -> None:
    log = MemoryAudit(SYSTEM_CLOCK)
    log.intent(log.begin(), call())
    log.final(log.begin(), end())
    assert [record["code"] for record in log.tail(10)] == ["effect.intent", "call.ok"]
    assert log.health[0]
    log.close()
    with pytest.raises(CallFailed):
        log.begin()


def test_memory_audit_shows_the_files_of_a_workspace_and_leaves_them_alone(directory: Path) -> None:
    log = open_log(directory)
    record_calls(log, 2)
    log.close()
    before = (directory / "audit-1.jsonl").read_bytes()
    reader = MemoryAudit(SYSTEM_CLOCK, directory)
    record_calls(reader, 1)
    assert len(reader.tail(10)) == 2
    assert (directory / "audit-1.jsonl").read_bytes() == before
