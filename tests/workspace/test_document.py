"""What a file says is the same with and without positions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.workspace.document import Document
from evatui.kernel.workspace.yaml import MAX_DEPTH, YamlProblem, parse, place, plain

_PIECES = (
    *("a", "b", "no", "012", "0x1F", "1:30", "1e3", ".inf", "~", "null", "true", "'true'", '"1"', "9" * 20, "<<"),
    *(": ", ":", "- ", "-", "? ", "{", "}", "[", "]", ", ", ",", "|", "|-", ">", ">+", '"', "'", "\\n", "#", " #"),
    *("&a ", "*a", "! ", "!!str ", "!x ", "---", "...", "%YAML 1.1\n---\n", "@", "`", "\ufeff", "\u00e4", "\u2028"),
    *("\n", "\n", "\n", "\n  ", "\n    ", " ", "  ", "\t", "\r\n", "\r"),
)


def _outcome(read: Any) -> tuple[Any, tuple[Diagnostic, ...]]:
    try:
        return read(), ()
    except YamlProblem as problem:
        return None, problem.diagnostics


def _same(data: bytes) -> None:
    quick = _outcome(lambda: Document(data, "a.yaml").value)
    slow = _outcome(lambda: plain(parse(data, "a.yaml")))
    assert quick == slow
    assert repr(quick[0]) == repr(slow[0])  # 1, 1.0 and True are equal, and different


@given(st.lists(st.sampled_from(_PIECES), max_size=24).map("".join))
def test_any_text_reads_the_same_or_is_refused_the_same(text: str) -> None:
    _same(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "a:\n",
        "a: 1\na: 2\n",
        "'a': 1\na: 2\n",
        "1: a\n",
        "? [a]\n: b\n",
        "a: &x 1\nb: *x\n",
        "a: !!str 1\n",
        "a: ! 1\n",
        "a: 'don''t & won''t!'\n",
        "a: *x\n",
        "--- a\n...\n",
        "--- a\n--- b\n",
        "a: |\n  012\n  # kept\n\nb: >-\n  folded\n  text\n",
        "<<: {a: 1}\nb: 2\n",
        "a: {b, c: , d}\n",
        "[a: 1, b]\n",
        "a: 1e400\n",
        "a: " + "9" * 5_000 + "\n",
        "a: " + "[" * (MAX_DEPTH - 2) + "1" + "]" * (MAX_DEPTH - 2) + "\n",
        "a: " + "[" * (MAX_DEPTH - 1) + "1" + "]" * (MAX_DEPTH - 1) + "\n",
        "a: [" + "1," * 6_000 + "]\n",
        "a: [" + "1," * 10_000 + "]\n",
        "a: " + "b" * 20_000 + "\n",
    ],
)
def test_what_is_unusual_reads_the_same(text: str) -> None:
    _same(text.encode())


def test_a_value_is_placed_where_it_stands() -> None:
    document = Document(b"id: greet\nlua:\n  script: x.lua\n", "a.yaml")
    assert document.value == {"id": "greet", "lua": {"script": "x.lua"}}
    span = place(document.tree, ("lua", "script"))
    assert (span.file, span.line, span.column) == ("a.yaml", 3, 11)
