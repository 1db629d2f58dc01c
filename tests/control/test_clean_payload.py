"""What an event says is clean, however a console comes to read it."""

from __future__ import annotations

from typing import Any

import orjson

from evatui.control.clean_payload import CleanPayload
from evatui.control.wire import encode

TOLD: dict[str, Any] = {"text": "a\x1b[2Jb", "token": "t0ps3cret", "deep": [{"\x9bkey": "\u202egnp.exe"}], "n": 3}


def test_secrets_and_control_characters_are_not_in_it() -> None:
    said = CleanPayload(TOLD)
    assert said["token"] == "[redacted]"
    assert said["n"] == 3
    assert len(said) == len(TOLD)
    ((key, text),) = said["deep"][0].items()
    assert not {"\x1b", "\x9b", "\u202e"} & {*said["text"], *key, *text}
    assert "t0ps3cret" not in repr(said)


def test_on_the_wire_it_is_what_it_is_in_the_process() -> None:
    assert orjson.loads(encode({"payload": CleanPayload(TOLD)}))["payload"] == CleanPayload(TOLD)
