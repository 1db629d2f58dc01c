"""``adapter.result_simplify``: one plain shape for whatever was answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bundled.harness import Serving

# Without empty containers: whether one is an array or an object is the codec's business, tested there.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4) | st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=4)
    ),
    max_leaves=20,
)


Simplify = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def simplify(bundled: Serving) -> Simplify:
    def simplify(result: Any, **caps: int) -> dict[str, Any]:
        answer = bundled.call("adapter.result_simplify", {"result": result, **caps})
        assert answer["ok"], answer["error"]
        simple: dict[str, Any] = answer["result"]
        return simple

    return simplify


def test_the_texts_of_an_mcp_result_are_joined(simplify: Simplify) -> None:
    content = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert simplify({"content": content})["text"] == "one\ntwo"


def test_what_is_no_text_is_named_instead_of_shown(simplify: Simplify) -> None:
    content = [
        {"type": "image", "mimeType": "image/png", "data": "AAAA" * 500},
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///c", "blob": "AAAA"}},
    ]
    text = simplify({"content": content})["text"]
    assert text == "[image image/png, 1.5 KB]\n[link file:///a]\ninside\n[resource file:///c]"


def test_structured_content_is_the_data(simplify: Simplify) -> None:
    content = [{"type": "text", "text": "2 open"}]
    assert simplify({"content": content, "structuredContent": {"open": 2}})["data"] == {"open": 2}


def test_json_in_the_text_is_the_data_where_there_is_no_other(simplify: Simplify) -> None:
    assert simplify({"content": [{"type": "text", "text": '{"open": [1, 2]}'}]})["data"] == {"open": [1, 2]}
    assert simplify({"content": [{"type": "text", "text": "{not json"}]})["data"] is None


def test_an_mcp_error_is_an_error(simplify: Simplify) -> None:
    simple = simplify({"content": [{"type": "text", "text": "no such issue"}], "isError": True})
    assert simple["ok"] is False
    assert simple["error"] == {"kind": "ToolError", "message": "no such issue", "retryable": False}


@pytest.mark.parametrize(
    ("failed", "kind", "message"),
    [
        ({"ok": False, "error": {"kind": "Timeout", "message": "late"}}, "Timeout", "late"),
        ({"ok": False, "error": "broken"}, "Error", "broken"),
        ({"ok": False, "message": "broken"}, "Error", "broken"),
        ({"ok": False}, "Error", "ok: false"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "bad"}}, "-32602", "bad"),
        ({"response": {"ok": False, "error": {"kind": "NotFound", "message": "gone"}}}, "NotFound", "gone"),
        ({"error": {"why": "unknown"}}, "Error", "why: unknown"),
    ],
)
def test_errors_of_every_shape_become_one(simplify: Simplify, failed: Any, kind: str, message: str) -> None:
    simple = simplify(failed)
    assert simple["ok"] is False
    assert (simple["error"]["kind"], simple["error"]["message"]) == (kind, message)


def test_envelopes_are_opened_one_after_the_other(simplify: Simplify) -> None:
    inner = {"content": [{"type": "text", "text": "deep"}]}
    assert simplify({"ok": True, "result": {"jsonrpc": "2.0", "id": 1, "result": inner}})["text"] == "deep"


@pytest.mark.parametrize(
    "plain", [{"result": 3, "unit": "kg"}, {"content": "a file's text", "path": "a"}, {"ok": True, "n": 1}]
)
def test_plain_data_that_looks_like_an_envelope_is_kept_whole(simplify: Simplify, plain: dict[str, Any]) -> None:
    assert simplify(plain)["data"] == plain


@pytest.mark.parametrize(
    ("scalar", "text"), [("hello", "hello"), (3, "3"), (True, "true"), (None, ""), (False, "false")]
)
def test_scalars_are_text(simplify: Simplify, scalar: Any, text: str) -> None:
    assert simplify(scalar)["text"] == text


def test_what_is_cut_stands_in_the_notes(simplify: Simplify) -> None:
    simple = simplify(
        {"long": "ä" * 30, "many": [1, 2, 3], "deep": {"a": {"b": 1}}}, max_text=20, max_items=2, max_depth=2
    )
    assert simple["data"] == {"deep": {"a": "{…}"}, "long": "ä" * 20}
    assert simple["truncated"] is True
    assert simple["notes"] == [
        "/deep/a: left out: deeper than 2 levels",
        "/long: cut from 30 to 20 characters",
        "the whole: 1 of 3 keys left out",
        simple["notes"][-1],
    ]


def test_the_notes_are_capped_too(simplify: Simplify) -> None:
    notes = simplify(["long text"] * 40, max_text=5)["notes"]
    assert len(notes) == 21
    assert notes[-1] == "and 21 more"


@given(JSON)
def test_every_json_value_has_a_simple_shape(simplify: Simplify, value: Any) -> None:
    simple = simplify(value, max_depth=3, max_items=3, max_text=10)
    assert len(simple["text"]) <= 10
    assert simple["ok"] is (simple["error"] is None)


@given(JSON.filter(lambda value: not isinstance(value, dict)))
def test_nothing_is_cut_that_is_within_the_caps(simplify: Simplify, value: Any) -> None:
    simple = simplify([value], max_depth=32)
    assert simple["data"] == [value]
    assert simple["truncated"] is False
