"""Finding records in many files, and taking them elsewhere."""

from __future__ import annotations

import io
from pathlib import Path

import orjson
import pytest

from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.damage import Damage
from evatui.kernel.records.exporting import exported, verify_export
from evatui.kernel.records.head import Seal
from evatui.kernel.records.search import Filter, find
from evatui.kernel.workspace.settings import AuditSettings


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Seal]:
    """Sixty records in some ten files: every third failed, every second is of beta."""
    root = tmp_path_factory.mktemp("log")
    directory, seal = root / "audit", Seal(root / "config", root / "audit")
    settings = AuditSettings(rotate_bytes=3_000, keep_files=1_000)
    log = AuditLog.open(directory, settings, SYSTEM_CLOCK, seal=seal)
    for number in range(60):
        name = "beta" if number % 2 else "alpha"
        log.final(
            log.begin(),
            {
                "code": "call.error" if number % 3 == 0 else "call.ok",
                "outcome": "error" if number % 3 == 0 else "ok",
                "actor": {"type": "cli", "id": "ada" if number < 30 else "bob"},
                "capability_id": name,
                "capability": f"{name}.run",
                "generation": f"{name}@1.0.{number // 20}",
                "request_id": f"req_{number}",
            },
        )
    log.close()
    return directory, seal


def requests(directory: Path, **wanted: str) -> list[int]:
    """Numbers of the requests that were found, as they came."""
    found = [record for record, _ in find(directory, Filter(**wanted))]
    return [int(record["request_id"].removeprefix("req_")) for record in found if record["request_id"]]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"request": "req_7"}, [7]),
        ({"request": "req_"}, []),
        ({"capability": "beta", "outcome": "error"}, [57, 51, 45, 39, 33, 27, 21, 15, 9, 3]),
        ({"capability": "alpha.run", "code": "call.error", "actor": "ada"}, [24, 18, 12, 6, 0]),
        ({"generation": "beta@1.0.2", "code": "call", "actor": "cli:bob"}, list(range(59, 40, -2))),
        ({"code": "cal"}, []),
        ({"actor": "cli", "code": "call"}, list(range(59, -1, -1))),
        ({"actor": "eve"}, []),
    ],
)
def test_all_that_is_asked_for_must_be_so_and_the_newest_comes_first(ground, wanted, expected) -> None:
    assert requests(ground[0], **wanted) == expected


def test_a_whole_code_and_the_first_part_of_one_find_the_same(ground) -> None:
    rotated = [record["seq"] for record, _ in find(ground[0], Filter(code="audit.rotated"))]
    assert rotated == [record["seq"] for record, _ in find(ground[0], Filter(code="audit"))]
    assert len(rotated) > 5
    assert list(find(ground[0], Filter(code="audit.rotated", capability="beta"))) == []


def test_times_are_included_at_both_ends(ground) -> None:
    times = [record["at"] for record, _ in find(ground[0], Filter(code="call"))][::-1]
    since, until = times[10], times[40]
    assert requests(ground[0], code="call", since=since, until=until) == [
        number for number in range(59, -1, -1) if since <= times[number] <= until
    ]
    assert requests(ground[0], since="2999") == []
    assert requests(ground[0], until="1999") == []


def test_a_torn_line_and_a_foreign_one_are_passed_over(ground, tmp_path: Path) -> None:
    (tmp_path / "audit-1.jsonl").write_bytes(
        b'not json\n[1]\n{"request_id":"req_1","at":"2026"}\n{"request_id":"req_2"'
    )
    assert requests(tmp_path) == [1]


def test_an_export_is_exact_to_the_byte_and_holds_elsewhere(ground) -> None:
    directory, seal = ground
    lines = list(exported(directory, seal))
    files = sorted(directory.glob("audit-*"), key=lambda path: int(path.stem.split("-")[1]))
    assert b"".join(lines[1:]) == b"".join(path.read_bytes() for path in files)
    key = seal.key()
    found = verify_export(io.BytesIO(b"".join(lines)), "copy.jsonl", key)
    assert (found.ok, found.past_head, found.records) == (True, 0, len(lines) - 1)
    assert found.signed is not None
    assert found.signed["key"] == key
    assert verify_export(io.BytesIO(b"".join(lines)), "copy.jsonl", None).ok


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda lines: lines[:-1], Damage.TRUNCATION),
        (lambda lines: lines[1:], Damage.HEAD),
        (lambda lines: [*lines[:9], lines[9].replace(b'"at":"2', b'"at":"3'), *lines[10:]], Damage.EDIT),
        (lambda lines: [*lines[:9], *lines[10:]], Damage.TRUNCATION),
        (lambda lines: [*lines, lines[-1]], Damage.REORDER),
        (lambda lines: [lines[0].replace(b'"clean":true', b'"clean":false'), *lines[1:]], Damage.HEAD),
        (lambda lines: [], Damage.HEAD),
    ],
)
def test_an_export_that_was_changed_is_found(ground, change, kind: Damage) -> None:
    changed = b"".join(change(list(exported(*ground))))
    found = verify_export(io.BytesIO(changed), "copy.jsonl", ground[1].key())
    assert found.first_bad is not None
    assert found.first_bad.kind is kind


def test_an_export_that_somebody_else_signed_is_found(ground) -> None:
    other = verify_export(io.BytesIO(b"".join(exported(*ground))), "copy.jsonl", "0" * 64)
    assert other.first_bad is not None
    assert other.first_bad.kind is Damage.HEAD


def test_a_log_that_nobody_signed_is_exported_without_a_head(ground) -> None:
    first = next(exported(ground[0], None))
    assert orjson.loads(first)["seq"] == 1
