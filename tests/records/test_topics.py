"""What the kernel emits is in one table, and nothing else is emitted in its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import evatui
from evatui.hardware.lifecycle import DeviceState
from evatui.hardware.telling import topic_of
from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.model.topic import KERNEL_ROOTS, is_kernel_topic, is_topic
from evatui.kernel.model.topics import TOPICS
from evatui.kernel.records.codes import Code
from evatui.kernel.records.events import EventBus

_WRITTEN = re.compile(rf'"(/(?:{"|".join(sorted(KERNEL_ROOTS))})/[a-z_/]+)"')
_TOLD = re.compile(r'(?:\b_?tell|\btell_canary|telling\.\w+|news\.server)\(\s*(?:[\w.]+,\s*)?"([a-z_]+)"')
"""The last segment, where a function puts its root before it."""
SINK = {"detail": "", "since": ""}


def test_every_topic_is_one_of_the_kernels_and_every_root_has_some() -> None:
    assert all(is_topic(name) and is_kernel_topic(name) and topic.meaning for name, topic in TOPICS.items())
    assert {name.split("/")[1] for name in TOPICS} == KERNEL_ROOTS
    assert [name for name, topic in TOPICS.items() if len(set(topic.payload)) < len(topic.payload)] == []


@pytest.mark.parametrize(
    ("topic", "payload", "said"),
    [
        ("/audit/lost", SINK, "/audit/lost is not in the table"),
        ("/Audit/damaged", SINK, "/Audit/damaged is not in the table"),
        ("/audit", {}, "/audit is not in the table"),
        ("/audit/damaged", SINK | {"path": "x"}, "other fields.*: path"),
        ("/audit/damaged", {"detail": ""}, "other fields.*: since"),
    ],
)
def test_what_is_not_in_the_table_is_not_emitted_in_the_kernels_name(topic: str, payload: dict, said: str) -> None:
    bus = EventBus(SYSTEM_CLOCK)
    with pytest.raises(ValueError, match=said):
        bus.emit(topic, payload)
    assert bus.since(0) == ((), 0)
    assert bus.emit("/audit/damaged", SINK).seq == 1


def test_every_topic_that_stands_in_the_code_is_in_the_table() -> None:
    code = [path.read_text(encoding="utf-8") for path in Path(evatui.__file__).parent.rglob("*.py")]
    whole = {name for text in code for name in _WRITTEN.findall(text)}
    assert "/capability/loaded" in whole
    assert sorted(whole - _roots() - TOPICS.keys()) == []
    words = {word for text in code for word in _TOLD.findall(text)}
    assert {"loading", "unregistered", "asked", "promoted"} <= words
    assert sorted(words - {name.rpartition("/")[2].removeprefix("canary_") for name in TOPICS}) == []


def test_every_topic_that_is_put_together_is_in_the_table() -> None:
    made = {f"/hardware/device/{topic_of(state)}" for state in DeviceState}
    made |= {f"/capability/canary_{code.partition('.')[2]}" for code in Code if code.startswith("canary.")}
    assert made - TOPICS.keys() == {"/hardware/device/opening", "/hardware/device/handshaking"}, "which are quiet"


def _roots() -> set[str]:
    """What a topic is put together with, or told by."""
    roots = {name.rpartition("/")[0] for name in TOPICS}
    return roots | {f"{root}/" for root in roots}
