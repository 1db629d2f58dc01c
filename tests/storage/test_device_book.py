"""What is remembered of devices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evatui.kernel.storage.database import Database
from evatui.kernel.storage.device_book import Binding, DeviceBook, KeptDevice, Link

DEVICE = KeptDevice(
    fingerprint="serial:0403:6001:s.ONE",
    generation=2,
    attachment="a2",
    first_seen="2026-01-01T00:00:00.000Z",
    last_seen="2026-01-02T00:00:00.000Z",
    links=(Link(1, "then", "later", "unplugged"), Link(2, "now")),
)


def test_it_is_all_there_after_a_restart_and_a_generation_never_goes_back(tmp_path: Path) -> None:
    database = Database(tmp_path / "state.db")
    DeviceBook(database).keep([DEVICE])
    DeviceBook(database).keep([replace(DEVICE, generation=1)])
    database.close()
    database = Database(tmp_path / "state.db")
    assert DeviceBook(database).devices() == [DEVICE]
    database.close()


def test_a_name_means_one_device_and_a_device_has_one_name() -> None:
    book = DeviceBook(Database(None))
    one = Binding(fingerprint="one", logical_id="scale.main", at="now", actor="ann")
    book.bind(one)
    book.bind(replace(one, logical_id="scale.other"))
    assert [binding.logical_id for binding in book.bindings()] == ["scale.other"]
    book.bind(replace(one, fingerprint="two", logical_id="scale.other"))
    assert [binding.fingerprint for binding in book.bindings()] == ["two"]
    book.unbind("two")
    assert book.bindings() == []


def test_of_too_many_those_are_forgotten_that_were_gone_for_longest_but_never_a_named_one() -> None:
    book = DeviceBook(Database(None))
    book.bind(Binding(fingerprint="d0000", logical_id="scale.main", at="now", actor="ann"))
    book.keep([replace(DEVICE, fingerprint=f"d{n:04}", last_seen=f"{n:04}") for n in range(1_003)])
    kept = {device.fingerprint for device in book.devices()}
    assert len(kept) == 1_001
    assert {"d0000", "d0003"} <= kept
    assert not {"d0001", "d0002"} & kept
