"""Laws of reading YAML: values read as themselves, and every place lies inside the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.model.diagnostic import Span
from evatui.kernel.workspace.yaml import YamlProblem, parse, plain

READABLE = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff\ufffe\uffff")
TEXT = st.text(READABLE, max_size=30)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_json_reads_as_itself(value: Any) -> None:
    written = json.dumps(value, ensure_ascii=False)
    assert plain(parse(written.encode(), "a.yaml")) == value


@given(st.recursive(TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)))
def test_quoted_block_yaml_reads_as_itself(value: Any) -> None:
    written = pyyaml.safe_dump(value, default_style='"', allow_unicode=True)
    assert plain(parse(written.encode(), "a.yaml")) == value


SNIPPETS = (
    *(
        "a",
        "b: ",
        "- ",
        "\n",
        "  ",
        "\r\n",
        "[",
        "]",
        "{",
        "}",
        ",",
        '"',
        "'",
        "|\n",
        ">\n",
        "#",
        "&x ",
        "*x",
        "!t ",
        "?",
    ),
    *("&x ", "*x", "!t ", "---\n", "...", "%", "é", "😀", "\t", ":", "\ufeff", "~", ".inf", "1", "\x00", "\x85", "\\"),
)
FILES = st.lists(st.sampled_from(SNIPPETS), max_size=25).map("".join).map(str.encode) | st.binary(max_size=40)


def spans(data: bytes) -> Iterator[Span]:
    """Every place that reading ``data`` names."""
    try:
        waiting = [parse(data, "a.yaml")]
    except YamlProblem as problem:
        yield from (span for diagnostic in problem.diagnostics for span in diagnostic.spans)
        return
    while waiting:
        node = waiting.pop()
        yield node.span()
        yield from (key.span("a.yaml") for key in node.keys.values())
        if isinstance(node.value, dict):
            waiting.extend(node.value.values())
        elif isinstance(node.value, list):
            waiting.extend(node.value)


@given(FILES)
def test_every_place_lies_inside_the_file(data: bytes) -> None:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    ends = "\n" if "\n" in text else "\r"
    lines = text.replace("\r\n", "\n").removesuffix(ends).split(ends)
    named = list(spans(data))
    assert named
    for span in named:
        start, end = (span.line, span.column), (span.end_line or 0, span.end_column or 0)
        assert (1, 1) <= start <= end
        for line, column in (start, end):
            assert line <= len(lines)
            assert column <= len(lines[line - 1]) + 1


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_keep_their_value(number: float) -> None:
    assert plain(parse(repr(number).encode(), "a.yaml")) == number
