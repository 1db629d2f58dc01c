"""What is heard of a device: how much of it is kept, and what is said of the rest."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from evatui.control.device_frames import Form, frame_rows
from evatui.hardware import frame_log
from evatui.hardware.frame_log import FrameLog
from evatui.hardware.moment import Moment
from evatui.hardware.tap import SECONDS, Tap


class Clock:
    seconds = 100.0

    def __call__(self) -> Moment:
        return Moment(self.seconds, f"at {self.seconds:g}")


def test_the_newest_is_kept_and_what_fell_out_is_counted() -> None:
    tap = Tap(Clock())
    assert (tap.since(0, 10).heard, tap.since(0, 10).last) == ([], 0)
    for number in range(100):
        tap.received(bytes(1_000), number)
    told = tap.since(1, 1_000)
    assert (told.heard[-1].epoch, told.last, len(told.heard) + told.missed) == (99, 100, 99)
    assert len(told.heard) == 65
    assert [one.seq for one in tap.since(98, 1).heard] == [100]
    assert tap.since(98, 1).missed == 1
    assert tap.since(100, 10).heard == []


def test_of_a_long_message_the_beginning_is_kept_and_all_of_it_is_counted() -> None:
    tap = Tap(Clock())
    tap.received(bytes(5_000), 1)
    tap.received(b"", 1)
    tap.discarded(7, full=True)
    (heard,) = tap.since(0, 10).heard
    totals = tap.totals
    assert (len(heard.data), heard.size) == (1_024, 5_000)
    assert (totals.rx_bytes, totals.rx_messages, totals.discarded, totals.gaps) == (5_000, 1, 7, 1)


def test_the_bytes_of_each_of_the_last_seconds() -> None:
    clock = Clock()
    tap = Tap(clock)
    tap.sent(b"abc", 1)
    tap.received(b"de", 1)
    clock.seconds += 2
    tap.sent(b"f", 1)
    assert tap.traffic == [0] * (SECONDS - 3) + [5, 0, 1]
    clock.seconds += SECONDS
    assert tap.traffic == [0] * SECONDS


def test_of_many_short_messages_not_more_are_kept_than_somebody_could_look_at() -> None:
    tap = Tap(Clock())
    for _ in range(5_000):
        tap.received(b"x", 1)
    assert (len(tap.since(1, 10_000).heard), tap.since(1, 10_000).missed) == (4_096, 903)


def test_whoever_watches_does_not_wait_for_the_disk_of_the_log() -> None:
    tap, stuck, free = Tap(Clock()), threading.Event(), threading.Event()

    class Stuck:
        def __call__(self, heard: object) -> None:
            stuck.set()
            free.wait(60)

        def close(self) -> None: ...

    tap.log_to(Stuck())
    device = threading.Thread(target=tap.sent, args=(b"ID?", 1), daemon=True)
    device.start()
    assert stuck.wait(60)
    assert (tap.totals.tx_bytes, tap.traffic[-1], len(tap.since(0, 10).heard)) == (3, 3, 1)
    free.set()
    device.join()


def test_a_log_turns_to_a_new_file_and_keeps_three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_log, "_MAX_BYTES", 40)
    tap = Tap(Clock())
    tap.log_to(FrameLog(tmp_path / "devices" / "scale.log"))
    for number in range(8):
        tap.sent(bytes([number]) * 8, 1)
    tap.log_to(None)
    tap.sent(b"x", 1)
    kept = {path.name: path.read_text() for path in (tmp_path / "devices").iterdir()}
    assert sorted(kept) == ["scale.log", "scale.log.1", "scale.log.2"]
    assert kept["scale.log"] == f"at 100 tx 8 {'07' * 8}\n"
    assert (tmp_path / "devices" / "scale.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("form", "width", "rows"),
    [
        (Form.HEX, 80, ["0000  00 41 ff"]),
        (Form.ASCII, 2, [".A", "."]),
        (Form.MIXED, 80, ["0000  00 41 ff" + " " * 41 + ".A."]),
        (Form.HEX, 12, ["0000  00 41", "0002  ff"]),
        (Form.MIXED, 1, ["0000  00  .", "0001  41  A", "0002  ff  ."]),
    ],
)
def test_bytes_are_shown_in_hexadecimal_as_text_or_both(form: Form, width: int, rows: list[str]) -> None:
    assert frame_rows(b"\x00A\xff", form, width) == rows
