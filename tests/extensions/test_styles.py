"""Front matter written in many styles reads back to the same fields; nothing is ever lost without a word."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.extensions.skills.read import read_skill
from evatui.extensions.skills.skill import Skill

FILE = "skills/a-skill/SKILL.md"
WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S"), exclude_characters="\u0640"), min_size=1)
LINE = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
TEXT = st.lists(LINE, min_size=1, max_size=3).map("\n".join)
PLAIN_WORD = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,12}", fullmatch=True).filter(lambda word: word != "null")


def single(text: str) -> str:
    return "'" + text.replace("'", "''").replace("\n", "\n\n  ") + "'"


def double(text: str) -> str:
    return "".join(char if char < "\x7f" else f"\\U{ord(char):08x}" for char in double_in_utf8(text))


def double_in_utf8(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def double_over_lines(text: str) -> str:
    return double_in_utf8(text).replace(" ", " \\\n  ", 1)


def literal(text: str) -> str:
    return "|2-\n" + "\n".join(f"  {line}" for line in text.split("\n"))


def folded(text: str) -> str:
    return ">2-\n" + "\n\n".join("\n  ".join(["", *line.split(" ")]).lstrip("\n") for line in text.split("\n"))


TEXT_STYLES: list[Callable[[str], str]] = [single, double, double_in_utf8, double_over_lines, literal, folded]
LIST_STYLES: list[Callable[[list[str]], str]] = [
    ", ".join,
    " ".join,
    lambda words: "[" + ", ".join(words) + "]",
    lambda words: "".join(f"\n  - {word}" for word in words),
    lambda words: "".join(f'\n- "{word}"' for word in words),
    lambda words: ">-\n  " + ",\n  ".join(words),
]


@settings(max_examples=60)
@given(
    description=TEXT,
    style=st.sampled_from(TEXT_STYLES),
    bins=st.lists(PLAIN_WORD, min_size=1, max_size=4, unique=True),
    env=st.lists(PLAIN_WORD, min_size=1, max_size=4, unique=True),
    listed=st.tuples(st.sampled_from(LIST_STYLES), st.sampled_from(LIST_STYLES)),
    version=st.sampled_from(["1.0", "'2.10'", '"0x1F"', "1.2.3-rc.1", "2026-01-31"]),
    always=st.booleans(),
    order=st.randoms(use_true_random=False),
    body=TEXT,
    bom=st.booleans(),
    breaks=st.sampled_from(["\n", "\r\n", "\r"]),
    notes=st.booleans(),
)
def test_every_style_reads_back_to_the_same_fields(
    description, style, bins, env, listed, version, always, order, body, bom, breaks, notes
) -> None:
    lines = [
        "name: a-skill",
        f"description: {style(description)}",
        f"requires_bins: {listed[0](bins)}",
        f"requires_env: {listed[1](env)}",
        f"version: {version}",
        f"always: {str(always).lower()}",
        "unknown: {kept: [as, it, is]}",
    ]
    order.shuffle(lines)
    between = "\n\n# a comment: of nobody's\n" if notes else "\n"
    text = f"---\n{between.join(lines)}\n---\n\n{body}\n".replace("\n", breaks)
    found = read_skill((("\ufeff" if bom else "") + text).encode(), FILE, "a-skill")
    assert isinstance(found, Skill), [one.rendered for one in found.diagnostics]
    assert [one for one in found.diagnostics if one.code != "EVA-808"] == []
    assert found.description == description
    assert (found.bins, found.env) == (tuple(bins), tuple(env))
    assert (found.version, found.always) == (version.strip("'\""), always)
    assert found.fields["unknown"] == {"kept": ["as", "it", "is"]}
    assert found.body == body + "\n"


@given(LINE)
def test_a_bare_line_is_read_whole_or_something_is_said(line: str) -> None:
    found = read_skill(f"---\nname: a-skill\ndescription: {line}\n---\n".encode(), FILE, "a-skill")
    told = [one.code for one in found.diagnostics]
    assert told or (isinstance(found, Skill) and found.description in (line, line[1:-1]))


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_a_skill_or_told(data: bytes) -> None:
    for whole in (data, b"---\n" + data + b"\n---\n", b"---\nname: a-skill\ndescription: " + data + b"\n---\n"):
        found = read_skill(whole, FILE, "a-skill")
        assert isinstance(found, Skill) or found.diagnostics
        assert all(one.rendered and one.primary for one in found.diagnostics)
