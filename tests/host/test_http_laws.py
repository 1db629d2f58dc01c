"""What holds for every URL and for every credential."""

from __future__ import annotations

import base64
import json
import string
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.kernel.host.credentials import Credential, Credentials
from evatui.kernel.host.urls import InvalidUrl, parse_url
from evatui.kernel.model.address import literal

PRINTABLE = [sign for sign in string.printable if sign.isprintable()]
SECRETS = st.text(st.sampled_from(PRINTABLE), min_size=6, max_size=40).filter(lambda text: text == text.strip())
AROUND = st.text(st.characters(codec="utf-8", min_codepoint=0x80), max_size=20)
SPELT = (
    str,
    str.upper,
    lambda sign: f"%{ord(sign):02X}",
    lambda sign: f"\\u{ord(sign):04x}",
    lambda sign: f"&#{ord(sign)};",
    lambda sign: f"&#x{ord(sign):X};",
    lambda sign: sign if sign.isalnum() else f"\\{sign}",
    lambda sign: f"\\\\\\\\u{ord(sign):04x}",
    lambda sign: f"\\u{{{ord(sign):x}}}",
    lambda sign: f"\\U{ord(sign):08X}",
    lambda sign: f"%2525{ord(sign):02x}",
    lambda sign: f"&amp;amp;#{ord(sign):03};",
    lambda sign: f"={ord(sign):02X}",
)
BETWEEN_LINES = st.sampled_from(["\n", "\r\n", "\\n", "\\\\r\\\\n", "%0D%0A", "%250a", "\n    ", "&#10;"])
BETWEEN_BYTES = st.sampled_from(["", " ", ":", "-", ", ", ",0x", "_", "\n", ":\n  "])
HOSTS = st.one_of(
    st.from_regex(r"[0-9a-fxA-FX.:\[\]%]{1,40}", fullmatch=True),
    st.from_regex(r"[a-zA-Z0-9._\-]{1,40}", fullmatch=True),
    st.ip_addresses().map(str),
    st.ip_addresses(v=6).map("[{}]".format),
)


def credential(value: str, prefix: str = "Bearer ") -> Credential:
    defined = {"T": {"hosts": ["*"], "header": "Authorization", "prefix": prefix}}
    return Credentials({"T": value}).take("T", ("T",), defined)


@settings(max_examples=50, deadline=None)
@given(SECRETS, AROUND, AROUND, st.randoms(use_true_random=False))
def test_a_secret_does_not_come_back_in_any_mix_of_spellings(
    secret: str, before: str, after: str, chance: Random
) -> None:
    spelt = "".join(chance.choice(SPELT)(sign) for sign in secret)
    assert credential(secret).redacted(f"{before}\0{spelt}\0{after}") == f"{before}\0[redacted]\0{after}"


@settings(max_examples=50, deadline=None)
@given(SECRETS, st.binary(max_size=9), st.binary(max_size=9), st.booleans())
def test_a_secret_does_not_come_back_within_base64(secret: str, before: bytes, after: bytes, safe: bool) -> None:
    encode = base64.urlsafe_b64encode if safe else base64.b64encode
    found = credential(secret).redacted(encode(before + secret.encode() + after).decode())
    assert "[redacted]" in found
    left = found.split("[redacted]")
    assert sum(map(len, left)) <= (len(before) + len(after) + 8) * 4 // 3


@settings(max_examples=15, deadline=None)
@given(SECRETS, st.binary(max_size=60), st.integers(4, 76), BETWEEN_LINES)
def test_a_secret_does_not_come_back_within_base64_of_several_lines(
    secret: str, before: bytes, width: int, line_end: str
) -> None:
    whole = base64.b64encode(before + secret.encode()).decode().rstrip("=")
    lines = line_end.join(whole[at : at + width] for at in range(0, len(whole), width))
    left = credential(secret).redacted(lines).replace("[redacted]", "").replace(line_end, "")
    assert len(left) <= (len(before) + 3) * 4 // 3


@settings(max_examples=15, deadline=None)
@given(SECRETS, AROUND, BETWEEN_BYTES, st.sampled_from(["02x", "02X"]))
def test_a_secret_does_not_come_back_as_the_numbers_of_its_bytes(
    secret: str, around: str, between: str, spelt: str
) -> None:
    digits = between.join(format(byte, spelt) for byte in secret.encode())
    assert credential(secret).redacted(f"{around}{digits}\0{around}") == f"{around}[redacted]\0{around}"
    numbers = ", ".join(map(str, secret.encode()))
    assert credential(secret).redacted(f"[{numbers}]") == "[[redacted]]"


@given(st.text(st.sampled_from(PRINTABLE), min_size=40, max_size=900), st.integers(0, 40_000))
@settings(max_examples=8, deadline=None)
def test_a_long_secret_is_found_whole_wherever_it_stands(secret: str, before: int) -> None:
    secret = f"x{secret}x"
    spelt = json.dumps(json.dumps(secret))[3:-3]
    assert credential(secret).redacted(f"{'~' * before}{spelt}é") == f"{'~' * before}[redacted]é"


@settings(max_examples=20, deadline=None)
@given(AROUND, AROUND)
def test_a_text_without_the_secret_stays_as_it_is(before: str, after: str) -> None:
    text = f"{before}İK{after}"
    assert credential("0123456789abcdef").redacted(text) == text


@settings(deadline=None)
@given(HOSTS, st.integers(0, 70_000), st.sampled_from(["", "/", "/a?b#c", "?q", "#f"]))
def test_a_host_has_one_spelling_and_a_number_is_an_address(host: str, port: int, rest: str) -> None:
    try:
        url = parse_url(f"http://{host}:{port}{rest}")
    except InvalidUrl:
        return
    again = parse_url(f"http://{url.authority}{url.target}")
    assert again == url
    assert url.port == port
    assert literal(url.host) is not None or not url.host.split(".")[-1].isdigit()
    assert not set(url.host) & set("[]%@/\\")
    assert url.host == url.host.lower()
