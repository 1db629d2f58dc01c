"""What of an input or output reaches a record, and what never does."""

from __future__ import annotations

import datetime as dt
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.model.clock import rfc3339
from evatui.kernel.model.errors import CallError, ErrorKind
from evatui.kernel.model.manifest import AuditLevel
from evatui.kernel.records.codes import Code, Outcome, call_ending
from evatui.kernel.records.record import GENESIS, MAX_TEXT, MAX_VALUE_BYTES, compose, measured
from evatui.kernel.records.redact import REDACTED, redact

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text("abc", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", max_size=3), inner, max_size=3),
    max_leaves=10,
)


def test_none_keeps_nothing() -> None:
    assert measured({"a": 1}, AuditLevel.NONE) is None


def test_metadata_keeps_size_and_digest_but_no_value() -> None:
    digest = hashlib.sha256(b'{"a":1,"b":2}').hexdigest()
    assert measured({"b": 2, "a": 1}, AuditLevel.METADATA_ONLY) == {"bytes": 13, "digest": digest}


def test_full_keeps_the_value_with_its_secrets_out() -> None:
    kept = measured({"user": "ada", "api_key": "s3cr3t"}, AuditLevel.FULL)
    assert kept is not None
    assert kept["value"] == {"user": "ada", "api_key": REDACTED}


def test_a_large_value_is_left_out() -> None:
    kept = measured("x" * MAX_VALUE_BYTES, AuditLevel.FULL)
    assert kept is not None
    assert set(kept) == {"bytes", "digest"}


def test_a_name_of_any_length_makes_no_long_record() -> None:
    about = {"capability": "x" * 10_000_000, "why": "y" * 5_000}
    long, line = compose(1, "2026", "call.error", "error", about, GENESIS)
    assert len(line) < 3 * MAX_TEXT
    assert long["capability"] == "x" * (MAX_TEXT - 1) + "…"
    assert long["details"]["why"] == "y" * (MAX_TEXT - 1) + "…"
    short, _ = compose(1, "2026", "call.ok", "ok", {"capability": "x" * MAX_TEXT}, GENESIS)
    assert short["capability"] == "x" * MAX_TEXT


def test_a_value_that_is_not_json_is_still_recorded_as_having_been_there() -> None:
    assert measured({"big": 2**80}, AuditLevel.FULL) == {"bytes": None, "digest": None}


@pytest.mark.parametrize(
    "key", ["password", "Api-Key", "apiKey", "X_API_KEY", "Authorization", "refresh_token", "private.key", "Set-Cookie"]
)
def test_secret_names_in_any_spelling(key: str) -> None:
    assert redact({"deep": [{key: {"inner": 1}}]}) == {"deep": [{key: REDACTED}]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization was Bearer abcdefgh12345", f"Authorization was {REDACTED}"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END", REDACTED),
        ("the bearer of news", "the bearer of news"),
    ],
)
def test_secret_looking_text(text: str, shown: str) -> None:
    assert redact([text]) == [shown]


def test_what_is_nested_too_deeply_is_replaced() -> None:
    value: object = "bottom"
    for _ in range(200):
        value = [value]
    assert "bottom" not in str(redact(value))


@given(json_values)
def test_harmless_values_come_out_as_they_are(value: object) -> None:
    assert redact(value) == value


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (None, (Code.CALL_OK, Outcome.OK)),
        (CallError(ErrorKind.TIMEOUT, ""), (Code.CALL_ERROR, Outcome.ERROR)),
        (CallError(ErrorKind.POLICY_DENIED, ""), (Code.CALL_DENIED, Outcome.DENIED)),
        (CallError(ErrorKind.POLICY_DENIED, "", details={"origin": "handler"}), (Code.CALL_ERROR, Outcome.ERROR)),
    ],
)
def test_success_failure_and_denial_have_codes_of_their_own(error: CallError | None, ending: object) -> None:
    assert call_ending(error) == ending


@pytest.mark.parametrize("micros", [0, 1, 999, 1_000, 678_901, 999_999])
def test_a_time_in_words_has_its_milliseconds(micros: int) -> None:
    moment = dt.datetime(2026, 1, 2, 8, 34, 5, micros, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30)))
    assert rfc3339(moment) == f"2026-01-02T03:04:05.{micros // 1000:03d}Z"
