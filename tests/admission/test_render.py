"""What a person reads: the place, the line, the caret, the reason, the remedy; and nothing that must not be shown."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evatui.kernel.admission.codes import CODES, diagnose, explain
from evatui.kernel.admission.redact import looks_secret, veiled_words
from evatui.kernel.admission.render import render
from evatui.kernel.model.diagnostic import Reason, Span
from evatui.kernel.workspace.layout import Layout
from tests.admission.harness import MANIFEST, edited, judge, policy_of, refused


def shown(text: str, span: Span, code: str = "EVA-204") -> list[str]:
    found = diagnose(code, "unknown key", span, notes=("a note",))
    return render(found, {span.file: text.encode()}).rendered.split("\n")


def test_a_rendered_diagnostic_looks_like_a_compilers() -> None:
    text = "id: a\nlimits:\n" + "# more\n" * 8 + "  timout_ms: 5\n"
    assert shown(text, Span("capabilities/a.yaml", 11, 3, 11, 12, "did you mean timeout_ms?")) == [
        "EVA-204 unknown key",
        "  --> capabilities/a.yaml:11:3",
        "   |",
        "11 |   timout_ms: 5",
        "   |   ^^^^^^^^^ did you mean timeout_ms?",
        "   = note: a note",
        "   = why: A misspelt limit or permission would be ignored silently and leave its default in force.",
        "   = fix: Correct the key or remove it.",
    ]


def caret(text: str, span: Span) -> tuple[str, str]:
    lines = shown(text, span)
    return lines[3].partition("| ")[2], lines[4].partition("| ")[2]


def test_the_caret_stands_under_its_place_whatever_stands_before_it() -> None:
    assert caret("a\tb: c", Span("f", 1, 3, 1, 4)) == ("a    b: c", "     ^")
    assert caret("名前: x", Span("f", 1, 5, 1, 6)) == ("名前: x", "      ^")
    assert caret("x: 名前", Span("f", 1, 4, 1, 6)) == ("x: 名前", "   ^^^^")
    assert caret("e\u0301: x", Span("f", 1, 5, 1, 6)) == ("e\u0301: x", "   ^")
    assert caret("\ufeffid: x\r\n", Span("f", 1, 5, 1, 6)) == ("id: x", "    ^")
    assert caret("a: [1,\n 2]", Span("f", 1, 4, 2, 3)) == ("a: [1,", "   ^^^")


def test_a_long_line_is_cut_around_its_caret() -> None:
    text = "x" * 500 + "HERE" + "y" * 500
    line, mark = caret(text, Span("f", 1, 501, 1, 505))
    assert len(line) <= 100
    assert line.startswith("…")
    assert line.endswith("…")
    assert line[mark.index("^") : mark.index("^") + 4] == "HERE"
    line, mark = caret("abc " + "z" * 300, Span("f", 1, 1, 1, 4))
    assert (line[:4], mark) == ("abc ", "^^^")


@pytest.mark.parametrize(
    "span", [Span("f", 99, 1), Span("f", 1, 99, 1, 120), Span("f", 1, 3, 1, 3), Span("other", 1, 1), Span("f", 2, 1)]
)
def test_a_span_that_does_not_fit_the_text_does_no_harm(span: Span) -> None:
    assert "EVA-204 unknown key" in render(diagnose("EVA-204", "unknown key", span), {"f": b"ab: c\n"}).rendered


def test_nothing_in_a_file_steers_the_terminal(layout: Layout) -> None:
    files = edited(manifest=("priority: 60", 'priority: "\u202e\u200b60\\e[31m"'))
    for found in refused(judge(files, layout)).diagnostics:
        assert not set("\u202e\u200b\x1b") & set(found.rendered + found.message)


SECRET = "hunter2hunter2hunter2"


@pytest.mark.parametrize(
    "line",
    [
        f"api_key: {SECRET}",
        f"apiKey: '{SECRET}'",
        f'password: "{SECRET}"',
        f"x: {{token: {SECRET}}}",
        f"auth.client-secret: {SECRET}",
        f"private_key: {SECRET} # mine",
        f"password:\n  {SECRET}",
        f"password: |\n  {SECRET}",
        f"tokens:\n- {SECRET}",
        f"note: ghp_{SECRET}",
        f"description: [ghp_{SECRET}, a]",
        f"access_key: [{SECRET}]",
        f"tokens: [\n  a,\n  {SECRET}]",
        f"tokens: [\n{SECRET}]",
        f"password: abc\n  {SECRET}",
        f'password: "abc\n  {SECRET}"',
        f"password: 'it''s\n{SECRET}'",
        f"password:\n  value:\n    {SECRET}",
        f"password: {{value: {SECRET}}}",
        f"x: {{a: 1, 'client_secret': {SECRET}, b: 2}}",
        f"headers:\n  - Authorization: Bearer {SECRET}",
        f"password: *{SECRET}",
        f"password: &{SECRET} a",
        f"password: !{SECRET} a",
        f"description: [Bearer {SECRET}]",
        f"description: ['https://me:{SECRET}@a.org/b']",
        f"? [{SECRET}]\n: 1",
        f"? [\n{SECRET}]\n: 1",
        f"? {{a: {SECRET}}}\n: 1",
        f"?\n  - {SECRET}\n: 1",
        f"?\n- a\n- {SECRET}\n: 1",
        f"description:\n  - ? [a, {SECRET}]\n    : 1",
        f"description: {{? [{SECRET}] : 1}}",
        f"[{SECRET}]: 1",
        f"{{{SECRET}: 1}}: 1",
        f"? password\n: ? [{SECRET}]\n  : 1",
        f"? password\n:\n  ? {SECRET}\n  : 1\n  2: {SECRET}",
        f"? password\n: {{1: {SECRET}}}",
    ],
)
def test_what_looks_like_a_secret_is_never_shown(layout: Layout, line: str) -> None:
    files = edited(manifest=("trust: {source: project}", line))
    verdict = refused(judge(files, layout))
    number = files[MANIFEST].split("\n").index(line.split("\n")[-1]) + 1
    told = "\n".join(d.rendered + d.message for d in verdict.diagnostics)
    told += "\n".join(shown(files[MANIFEST], Span(MANIFEST, number, 1, number, 3)))
    assert SECRET not in told


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("manifest", "priority", "KNOWN"),
        ("manifest", "- notes.find", "- KNOWN"),
        ("manifest", "capabilities/tools/notes.lua", "KNOWN"),
        ("manifest", "schemas/notes.input.json", "KNOWN"),
        ("manifest", "workspace/docs", "KNOWN"),
        ("manifest", "git, status", "git, KNOWN"),
        ("manifest", "NOTES_KEY", "KNOWN"),
        ("manifest", "emit: [/notes/**]", "emit: KNOWN"),
        ("policy", "git, status", "git, KNOWN"),
        ("policy", "NOTES_KEY", "KNOWN"),
        ("policy", "notes.*", "KNOWN"),
        ("takes", '"required"', '"KNOWN": "#/KNOWN", "$ref": "#/KNOWN", "required"'),
    ],
)
def test_what_is_a_secret_wherever_it_stands_is_not_told_as_a_name_either(
    layout: Layout, file: str, old: str, new: str
) -> None:
    files = edited(**{file: (old, new.replace("KNOWN", f"ghp_{SECRET}0000"))})
    told = json.dumps([found.to_json() for found in refused(judge(files, layout)).diagnostics])
    assert SECRET not in told


@pytest.mark.parametrize(
    "text",
    [
        f"mcp_server:\n  principals:\n    bob: {{token_sha256: {SECRET}, tools: []}}\n",
        f"credentials: {{GH: {{from: env, hosts: [a.org], header: Authorization, value: {SECRET}}}}}\n",
        f"credentials: {{GH: {{from: {SECRET}, hosts: [a.org], header: Authorization}}}}\n",
        f"credentials:\n  GH:\n    from: env\n    hosts: [a.org]\n    header: X {SECRET}\n",
    ],
)
def test_a_secret_in_a_policy_is_never_shown(text: str) -> None:
    (found,) = policy_of({"capabilities/policies/a.yaml": text}).diagnostics
    assert SECRET not in found.rendered + found.message


def test_a_command_line_shows_no_secret() -> None:
    words = ["git", "push", f"--token={SECRET}", "--password", SECRET, f"API_KEY={SECRET}", f"ghp_{SECRET}", "-m", "x"]
    shown_words = veiled_words(words)
    assert SECRET not in "".join(shown_words)
    assert [shown_words[index] for index in (0, 1, 3, 7, 8)] == ["git", "push", "--password", "-m", "x"]
    assert shown_words[2].startswith("--token=")
    assert veiled_words(["token", "x", "--key", "y"]) == ["token", "x", "--key", "y"]


def test_lua_lines_stay_readable() -> None:
    text = f'local token = lexer.next(request.payload, "{SECRET}")'
    lines = render(diagnose("EVA-502", "boom", Span("a.lua", 1, 1, 1, 6)), {"a.lua": text.encode()}).rendered
    assert "local token = lexer.next(request.payload, •" in lines
    assert SECRET not in lines


@pytest.mark.parametrize(
    "key", ["timeout_ms", "tokenizer", "secretary", "monkey", "keys", "compass", "max_tokens_out_of"]
)
def test_ordinary_keys_do_not_look_secret(key: str) -> None:
    assert looks_secret(key) is (key == "max_tokens_out_of")


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=200),
    st.integers(1, 220),
    st.integers(0, 30),
)
@example("0 ", 1, 2)
def test_the_caret_never_leaves_its_line(text: str, column: int, width: int) -> None:
    line, mark = caret(text + "\n", Span("f", 1, column, 1, column + width))
    cells = sum(
        0
        if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me")
        else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in line
    )
    assert mark.count("^") >= 1
    assert len(mark) <= max(cells, len(mark) - mark.count("^") + 1)
    assert "\x1b" not in line


def test_every_code_can_be_explained_in_whole_sentences() -> None:
    families = {
        "1": {Reason.YAML_INVALID, Reason.FILE_MISSING, Reason.PATH_NOT_ALLOWED, Reason.MANIFEST_INVALID},
        "3": {Reason.SCHEMA_MISSING, Reason.SCHEMA_INVALID, Reason.FILE_MISSING},
        "4": {
            Reason.POLICY_DENIED,
            Reason.ISOLATION_UNAVAILABLE,
            Reason.APPROVAL_REQUIRED,
            Reason.RESTART_REQUIRED,
        },
        "5": {Reason.LUA_LOAD_FAILED, Reason.HEALTH_FAILED, Reason.FILE_MISSING},
    }
    for code, entry in CODES.items():
        assert explain(code.lower()) is explain(code[4:]) is entry
        assert entry.why.endswith(".")
        assert entry.why[0].isupper()
        assert entry.fix[0].isupper()
        assert not entry.title.endswith(".")
        assert entry.reason in families.get(code[4], {entry.reason})
    assert explain("EVA-999") is None
    assert explain("") is None


@pytest.mark.parametrize(
    "line",
    ["a" * 1_000_000, "a=" * 500_000, "token=[" * 100_000, "key:" + " " * 900_000 + "x", "- " * 500_000, '"' * 500_000],
    ids=["one name", "many names", "many secrets", "spaces", "dashes", "quotes"],
)
def test_a_line_without_end_is_shown_in_part(line: str) -> None:
    """Reading each letter more than a few times would take longer than any test may."""
    for name in ("a.lua", "a.yaml"):
        text = f"{line}\n  {line}\n"
        rendered = render(diagnose("EVA-502", "boom", Span(name, 2, 1, 2, 6)), {name: text.encode()}).rendered
        assert len(rendered) < 2000


def test_a_number_under_a_secret_key_is_not_shown_either(layout: Layout) -> None:
    verdict = refused(judge(edited(manifest=("trust: {source: project}", "token: 4711e999")), layout))
    assert "EVA-110" in {found.code for found in verdict.diagnostics}
    assert "4711" not in "".join(found.rendered + found.message for found in verdict.diagnostics)
