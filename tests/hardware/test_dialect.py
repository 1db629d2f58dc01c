"""What is sent to a device, and what of its answers is taken."""

from __future__ import annotations

from typing import Any

import pytest

from evatui.hardware.dialect import Dialect
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind
from tests.hardware.rooms import BASE


def dialect(**more: Any) -> Dialect:
    return Dialect({**BASE, **more})


def test_a_command_has_the_words_of_the_payload_in_it() -> None:
    assert dialect().request("relay.set", {"what": "ON", "channel": 3}, 1) == b"ON 3\r\n"
    assert dialect(kind="delimiter").request("relay.set", {"what": "ON", "channel": 3}, 1) == b"ON 3;"
    assert dialect(kind="length_prefixed").request("relay.set", {"what": "ON", "channel": 3}, 1) == b"\0\x04ON 3"


@pytest.mark.parametrize("word", ["ON\nOFF", "ON 1;OFF", "", "x" * 65, "é", True, None, 1.5, ["ON"], {}])
def test_no_word_of_a_payload_can_end_the_command_and_begin_another(word: Any) -> None:
    with pytest.raises(Trouble) as trouble:
        dialect().request("relay.set", {"what": word, "channel": 3}, 1)
    assert trouble.value.kind is ErrorKind.INVALID_INPUT


def test_json_is_on_one_line_whatever_is_in_it_and_a_late_answer_is_no_answer() -> None:
    lines = dialect(kind="line_json", terminator="\n", commands={"scale.read": "weigh"})
    sent = lines.request("scale.read", {"note": "a\nb", "seq": 99}, 7)
    assert sent.count(b"\n") == 1
    assert b'"seq":7' in sent
    assert b'"command":"weigh"' in sent
    assert lines.answer(b'{"seq":6,"w":1}', 7) is None
    assert lines.answer(b'{"seq":7,"w":1}', 7) == {"w": 1}


@pytest.mark.parametrize("said", [b"\xfe\x81", b"[1]", b"nonsense", b"[" * 60_000, b'{"w":NaN}', b'{"w":-1e999}'])
def test_what_is_no_answer_is_said_to_be_none_without_repeating_it(said: bytes) -> None:
    with pytest.raises(Trouble) as trouble:
        dialect(kind="line_json").answer(said, 1)
    assert trouble.value.kind is ErrorKind.DEVICE_PROTOCOL_ERROR
    assert said[:8].decode("latin-1") not in trouble.value.message


def test_text_is_cleaned_and_bytes_are_written_as_digits() -> None:
    assert dialect().answer(b"ok \x1b[31m", 1) == {"text": "ok ␛[31m"}
    assert dialect(kind="fixed").answer(b"\x00\xff", 1) == {"hex": "00ff"}
    with pytest.raises(Trouble):
        dialect().answer(b"\xff", 1)


@pytest.mark.parametrize("kind", ["line_json", "length_prefixed"])
def test_a_command_that_no_message_can_hold_is_not_sent(kind: str) -> None:
    small = dialect(kind=kind, length_bytes=1, max_frame_bytes=300, commands={"note": " ".join(["{a}"] * 5)})
    with pytest.raises(Trouble, match="at most") as trouble:
        small.request("note", {"a": "x" * 64, "b": "x" * 200}, 1)
    assert trouble.value.kind is ErrorKind.INPUT_TOO_LARGE
