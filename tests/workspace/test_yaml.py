"""YAML with positions: what is read, what is refused, and where the finger points."""

from __future__ import annotations

from typing import Any

import pytest

from evatui.kernel.model.diagnostic import Diagnostic, Reason
from evatui.kernel.workspace.yaml import MAX_BYTES, Style, YamlProblem, key_place, parse, place, plain


def refused(data: bytes) -> tuple[Diagnostic, ...]:
    with pytest.raises(YamlProblem) as caught:
        parse(data, "capabilities/a.yaml")
    return caught.value.diagnostics


def only(data: bytes) -> Diagnostic:
    (diagnostic,) = refused(data)
    return diagnostic


def where(diagnostic: Diagnostic) -> tuple[int, int]:
    assert diagnostic.primary is not None
    assert diagnostic.primary.file == "capabilities/a.yaml"
    return diagnostic.primary.line, diagnostic.primary.column


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("1:30", "1:30"),
        ("2026-01-02", "2026-01-02"),
        ("1_000", "1_000"),
        ("0b1", "0b1"),
        ("012", 12),
        ("0o14", 12),
        ("0x1f", 31),
        ("-7", -7),
        ("+7", 7),
        ("1e3", 1000.0),
        ("1.", 1.0),
        (".5", 0.5),
        (".", "."),
        ("-", [None]),
        ("--", "--"),
        ("1.0.0", "1.0.0"),
        ("true", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("~", None),
        ("Null", None),
        ("", None),
        ("'no'", "no"),
        ('"012"', "012"),
        ("'~'", "~"),
        ("<<", "<<"),
        ("=", "="),
        ("\u0663", "\u0663"),
    ],
)
def test_scalars_follow_the_core_schema(written: str, value: Any) -> None:
    read = plain(parse(written.encode(), "a.yaml"))
    assert read == value
    assert type(read) is type(value)


def test_a_scalar_remembers_how_it_was_written() -> None:
    node = parse(b"a: 012\nb: '012'\nc: |\n  012\nd: []\n", "a.yaml")
    assert isinstance(node.value, dict)
    styles = {key: (child.style, child.text) for key, child in node.value.items()}
    assert styles == {
        "a": (Style.PLAIN, "012"),
        "b": (Style.QUOTED, "012"),
        "c": (Style.BLOCK, "012\n"),
        "d": (Style.COLLECTION, ""),
    }


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# only a remark\n", b"---\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_a_null_in_the_first_line(data: bytes) -> None:
    node = parse(data, "a.yaml")
    assert node.value is None
    assert node.place.line == 1


def test_values_and_keys_know_their_place() -> None:
    node = parse(b"id: greet\nlua:\n  script: x.lua\n\n# remark\nlist:\n  - one\n  - {two: 2}\n", "a.yaml")
    assert (place(node, ["lua", "script"]).line, place(node, ["lua", "script"]).column) == (3, 11)
    assert (place(node, ["list", 1, "two"]).line, place(node, ["list", 1, "two"]).column) == (8, 11)
    assert (key_place(node, ["lua"]).line, key_place(node, ["lua"]).column) == (2, 1)
    lua = place(node, ["lua"])
    assert (lua.end_line, lua.end_column) == (3, 16), "a block ends with its last value, not at the next token"


def test_what_is_not_there_points_at_the_nearest_thing_that_is() -> None:
    node = parse(b"id: greet\nlua:\n  script: x.lua\nlist: [a]\n", "a.yaml")
    assert place(node, ["lua", "entry"]).line == 2
    assert place(node, ["lua", "entry", "deeper", 3]).line == 2
    assert place(node, ["list", 7]).line == 4
    assert place(node, ["nothing"]).line == 1
    assert key_place(node, ["lua", "entry"]).line == 2


def test_windows_line_ends_and_a_byte_order_mark_shift_nothing() -> None:
    node = parse(b"\xef\xbb\xbfid: greet\r\nlua:\r\n  script: x.lua\r\n", "a.yaml")
    assert plain(node) == {"id": "greet", "lua": {"script": "x.lua"}}
    assert (place(node, ["id"]).line, place(node, ["id"]).column) == (1, 5)
    assert (place(node, ["lua", "script"]).line, place(node, ["lua", "script"]).column) == (3, 11)


def test_a_file_with_carriage_returns_alone_has_lines() -> None:
    node = parse(b"id: greet\rtext: |\r  one\r  two\rlua: {script: x.lua} # last\r", "a.yaml")
    assert plain(node) == {"id": "greet", "text": "one\ntwo\n", "lua": {"script": "x.lua"}}
    assert (place(node, ["lua", "script"]).line, place(node, ["lua", "script"]).column) == (5, 15)


def test_a_duplicate_key_names_both_places() -> None:
    diagnostic = only(b"id: a\nlua:\n  x: 1\n  x: 2\n")
    assert diagnostic.code == "EVA-104"
    assert diagnostic.reason is Reason.YAML_INVALID
    assert where(diagnostic) == (4, 3)
    other = next(span for span in diagnostic.spans if not span.primary)
    assert (other.line, other.column) == (3, 3)


def test_everything_wrong_is_told_at_once() -> None:
    codes = [diagnostic.code for diagnostic in refused(b"a: &x [1]\nb: *x\nc: !!str 1\na: 2\n1: 2\nd: .inf\n")]
    assert codes == ["EVA-105", "EVA-105", "EVA-106", "EVA-104", "EVA-107", "EVA-110"]


def test_a_thousand_mistakes_give_twenty_diagnostics() -> None:
    assert len(refused(b"- *x\n" * 1000)) == 20


def test_a_text_with_a_colon_is_told_to_want_quotes() -> None:
    found = only(b"description: Use when: it rains\npermissions: {network: false}\n")
    assert (found.code, found.message) == ("EVA-101", "a text with a colon and a space in it must stand in quotes")
    assert where(found) == (1, 22)
    assert "quotes" not in only(b"a: b\n  c: d\n").message


def test_an_unclosed_quote_is_shown_where_it_starts() -> None:
    diagnostic = only(b'id: greet\nname: "Greeter\nkind: lua_tool\n')
    assert diagnostic.code == "EVA-101"
    assert where(diagnostic) == (2, 7)


@pytest.mark.parametrize(
    ("data", "code", "at"),
    [
        (b"a: b: c", "EVA-101", (1, 5)),
        (b"a:\n\t- b\n", "EVA-101", (2, 1)),
        (b"a: \xff", "EVA-102", (1, 4)),
        (b"ok: 1\n\xc3", "EVA-102", (2, 1)),
        (b"a: 1\nb: x\x00y", "EVA-103", (2, 5)),
        (b"# remark\xc2\x85hidden: 1\n", "EVA-103", (1, 9)),
        (b"# remark\rhidden: 1\n", "EVA-103", (1, 9)),
        (b"a: 1\r\n# remark\rhidden: 1\r\n", "EVA-103", (2, 9)),
        (b"\xef\xbb\xbf\xef\xbb\xbfid: a\n", "EVA-103", (1, 1)),
        (b"a: \x1b[31m", "EVA-103", (1, 4)),
        (b"[1]: 2\n", "EVA-107", (1, 1)),
        (b"null: 2\n", "EVA-107", (1, 1)),
        (b"--- a\n--- b\n", "EVA-109", (2, 1)),
        (b"a: .NaN\n", "EVA-110", (1, 4)),
        (b"a: 1e999\n", "EVA-110", (1, 4)),
        (b"a: 9223372036854775808\n", "EVA-110", (1, 4)),
        (b"a: " + b"9" * 100_000, "EVA-110", (1, 4)),
    ],
)
def test_what_is_refused_and_where(data: bytes, code: str, at: tuple[int, int]) -> None:
    diagnostic = only(data)
    assert (diagnostic.code, where(diagnostic)) == (code, at)


@pytest.mark.parametrize("data", [b"a:\n\tb: 1\n", b"a: 1\n\tb: 2\n", b"a:\n  - x\n\t- y\n"])
def test_a_tab_is_called_a_tab_and_shown_once(data: bytes) -> None:
    found = only(data)
    assert (found.code, found.message) == ("EVA-101", "a tab cannot stand here: YAML is indented with spaces")
    assert len({(span.line, span.column) for span in found.spans}) == len(found.spans)


def test_another_yaml_is_not_read_as_this_one() -> None:
    found = only(b"%YAML 1.1\n---\na: 012\n")
    assert (found.code, where(found)) == ("EVA-101", (1, 1))
    assert plain(parse(b"%YAML 1.2\n---\na: 012\n", "a.yaml")) == {"a": 12}


def test_bad_bytes_are_named_with_their_offset() -> None:
    assert "offset 5" in only(b"a: xy\xff").message
    assert "offset 6" in only(b"\xef\xbb\xbfab:\x00").message


def test_a_bomb_of_aliases_is_refused_before_it_is_built() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert {diagnostic.code for diagnostic in refused("\n".join(lines).encode())} == {"EVA-105"}


@pytest.mark.parametrize("opening", [b"[", b"{a: ", b"- ", b"[{a: "])
def test_depth_is_bounded(opening: bytes) -> None:
    assert only(opening * 40).code == "EVA-108"


def test_size_and_count_are_bounded() -> None:
    assert only(b"- 1\n" * 10_001).code == "EVA-108"
    assert only(b"#" * (MAX_BYTES + 1)).code == "EVA-111"


def test_no_message_carries_control_sequences() -> None:
    diagnostic = only(b'"a\\e[31m": 1\n"a\\e[31m": 2\n')
    assert "\x1b" not in diagnostic.message
