"""``SKILL.md`` files as people write them: what is read, and what is said where that is not all."""

from __future__ import annotations

import json

import pytest

from evatui.extensions.skills.read import read_skill
from evatui.extensions.skills.skill import Refused, Skill, SkillClass
from evatui.kernel.model.diagnostic import Diagnostic

FILE = "skills/a-skill/SKILL.md"
BODY = "\nWhat to do.\n"


def read(text: str | bytes) -> Skill | Refused:
    data = text.encode() if isinstance(text, str) else text
    return read_skill(data, FILE, "a-skill")


def skill(front: str, body: str = BODY) -> Skill:
    found = read(f"---\n{front}---\n{body}")
    assert isinstance(found, Skill), [one.rendered for one in found.diagnostics]
    return found


def refused(front: str) -> tuple[Diagnostic, ...]:
    found = read(f"---\n{front}---\n{BODY}")
    assert isinstance(found, Refused)
    return found.diagnostics


def codes(found: Skill | Refused) -> list[str]:
    return [one.code for one in found.diagnostics]


@pytest.mark.parametrize(
    ("written", "description"),
    [
        ("Reads a log.", "Reads a log."),
        ("'It''s all: here'", "It's all: here"),
        ('"a --- b \\u00e9"', "a --- b é"),
        (">-\n  One line\n  and another.\n\n  A third.", "One line and another.\nA third."),
        ("|\n  One line\n  and another.", "One line\nand another."),
        ("plain\n  and longer\n  still", "plain and longer still"),
        ("\n  on the next line", "on the next line"),
        ("1.10", "1.10"),
        ("yes", "yes"),
        ("2026-01-31", "2026-01-31"),
        ("0x1F", "0x1F"),
        ("\u00dcbersicht \u2013 \u6982\u8981 \U0001f600", "\u00dcbersicht \u2013 \u6982\u8981 \U0001f600"),
    ],
)
def test_a_description_is_read_as_it_is_meant(written: str, description: str) -> None:
    found = skill(f"name: a-skill\ndescription: {written}\n")
    assert found.description == description
    assert found.diagnostics == ()


@pytest.mark.parametrize(
    ("written", "description"),
    [
        ("Limits: none.", "Limits: none."),
        ("When asked.\n  Examples: this, and\n  more: of it", "When asked. Examples: this, and more: of it"),
        ("First.\n\n  Then: second", "First.\nThen: second"),
        ("[DEPRECATED] use another", "[DEPRECATED] use another"),
        ("**Bold** words", "**Bold** words"),
        ("`code` first", "`code` first"),
        ("@someone asks", "@someone asks"),
        ("{{ placeholder }} and more", "{{ placeholder }} and more"),
        ("- a dash", "- a dash"),
        ("%d of them", "%d of them"),
        ("& more", "& more"),
    ],
)
def test_what_is_no_yaml_but_plainly_text_is_read_whole_with_a_warning(written: str, description: str) -> None:
    found = skill(f"name: a-skill\ndescription: {written}\nversion: 1.0\n")
    assert (found.description, found.version) == (description, "1.0")
    (told,) = found.diagnostics
    assert (told.code, told.level.value) == ("EVA-805", "warning")
    assert told.message.startswith("description")
    assert f"{FILE}:3:" in told.rendered
    (edit,) = told.edits
    assert json.loads(edit.replacement) == description


def test_the_offered_repair_reads_without_a_warning() -> None:
    text = 'name: a-skill\ndescription: When asked.\n  Examples: this "and" that\nversion: 2\n'
    before = skill(text)
    (edit,) = before.diagnostics[0].edits
    lines = f"---\n{text}---\n".split("\n")
    head = lines[edit.span.line - 1][: edit.span.column - 1]
    tail = lines[(edit.span.end_line or 0) - 1][(edit.span.end_column or 0) - 1 :]
    lines[edit.span.line - 1 : edit.span.end_line] = [head + edit.replacement + tail]
    after = read("\n".join(lines))
    assert isinstance(after, Skill)
    assert (after.description, after.diagnostics) == (before.description, ())


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff---\nname: a-skill\ndescription: D\n---\nBody\n",
        "---\r\nname: a-skill\r\ndescription: D\r\n---\r\nBody\r\n",
        "---\rname: a-skill\rdescription: D\r---\rBody\r",
        "--- \nname: a-skill\ndescription: D\n---\t\n\n\nBody\n",
        "---\n# a comment\nname: a-skill\n\ndescription: D\n---\nBody\n",
        "---\n\"name\": a-skill\n'description': D\n---\nBody",
        "---\n{name: a-skill, description: D}\n---\nBody\n",
    ],
    ids=["byte order mark", "windows", "old mac", "blanks", "comments", "quoted keys", "flow"],
)
def test_the_ways_of_a_file_make_no_difference(text: str) -> None:
    found = read(text)
    assert isinstance(found, Skill)
    assert (found.name, found.description, found.body.strip(), found.diagnostics) == ("a-skill", "D", "Body", ())


def test_rules_in_the_body_are_the_bodys_own() -> None:
    assert skill("name: a-skill\ndescription: D\n", "\nText\n\n---\n\nMore\n").body == "Text\n\n---\n\nMore\n"


@pytest.mark.parametrize(("before", "line"), [("<!-- licence -->\n", 2), ("\n\n", 3), ("<!--\nlong\n-->\n\n", 5)])
def test_a_comment_before_the_front_matter_is_passed_over(before: str, line: int) -> None:
    found = read(f"{before}---\nname: a-skill\ndescription: D\n---\n")
    assert isinstance(found, Skill)
    if before.strip():
        assert codes(found) == ["EVA-803"]
        assert f"line {line}" in found.diagnostics[0].message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# A heading\n\nText.\n", 1),
        ("", 1),
        ("---\nname: x\ndescription: D\n", 1),
        ("<!-- x -->\nText", 2),
        ("<!-- --", 1),
    ],
)
def test_a_file_without_front_matter_is_refused_with_the_line(text: str, line: int) -> None:
    found = read(text)
    assert isinstance(found, Refused)
    assert (codes(found), found.name) == (["EVA-802"], "a-skill")
    assert "front matter" in found.diagnostics[0].message
    assert found.diagnostics[0].primary.line == line


@pytest.mark.parametrize("description", ["", "~", "null", "''", '""', "'  '"])
def test_a_skill_without_a_description_is_refused_at_the_field(description: str) -> None:
    (told,) = refused(f"name: a-skill\ndescription: {description}\n")
    assert (told.code, told.primary.line) == ("EVA-806", 3)
    (told,) = refused("name: a-skill\n")
    assert (told.code, told.primary.line) == ("EVA-806", 1)


@pytest.mark.parametrize(
    ("front", "line", "column"),
    [
        ('name: a-skill\ndescription: "never closed\n', 3, 14),
        ("name: a-skill\ndescription: {a: b\n", 3, 14),
        ("name: a-skill\ndescription: Says: this\nand goes on here\n", 3, 18),
        ("name: a-skill\ndescription: D\ndescription: E\n", 4, 1),
        ("- name\n- description\n", 2, 1),
        ("just text\n", 2, 1),
    ],
)
def test_hopeless_yaml_is_refused_with_its_place(front: str, line: int, column: int) -> None:
    told = refused(front)[0]
    assert (told.code, told.primary.line, told.primary.column) == ("EVA-804", line, column)
    assert "^" in told.rendered
    assert "fix: " in told.rendered


def test_bytes_that_are_no_text_are_refused_with_their_place() -> None:
    found = read(b"---\nname: a-skill\ndescription: caf\xe9\n---\n")
    assert codes(found) == ["EVA-804"]
    assert (found.diagnostics[0].primary.line, found.diagnostics[0].primary.column) == (3, 17)
    assert codes(read("---\nname: a\ndescription: D\n---\n".encode("utf-16"))) == ["EVA-804"]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("rg, git", ("rg", "git")),
        ("rg git", ("rg", "git")),
        ("rg", ("rg",)),
        ("[rg, 'git']", ("rg", "git")),
        ("\n  - rg\n  - git", ("rg", "git")),
        ("\n- rg\n- git", ("rg", "git")),
        ("rg,rg", ("rg",)),
        ("", ()),
        ("~", ()),
        ("[]", ()),
        ('""', ()),
    ],
)
def test_what_is_required_is_text_or_a_list(written: str, found: tuple[str, ...]) -> None:
    assert skill(f"name: a-skill\ndescription: D\nrequires_bins: {written}\n").bins == found
    assert skill(f"name: a-skill\ndescription: D\nrequires_env: {written}\n").env == found


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("Read Grep", ("Read", "Grep")),
        ("Read, Bash(git add:*), Grep", ("Read", "Bash(git add:*)", "Grep")),
        ("[Read, 'Bash(npm run test)']", ("Read", "Bash(npm run test)")),
        ("", ()),
    ],
)
def test_allowed_tools_have_one_form(written: str, found: tuple[str, ...]) -> None:
    assert skill(f"name: a-skill\ndescription: D\nallowed-tools: {written}\n").allowed_tools == found
    assert skill("name: a-skill\ndescription: D\n").allowed_tools is None


@pytest.mark.parametrize("written", ["{broken", "{a: b}", "[a, [b]]", '"a'])
def test_a_kind_that_cannot_be_read_refuses_the_skill(written: str) -> None:
    assert refused(f"name: a-skill\ndescription: D\nkind: {written}\n")[0].code == "EVA-807"


@pytest.mark.parametrize("field", ["allowed-tools", "requires_bins", "requires_env"])
@pytest.mark.parametrize("written", ["{broken", "{a: b}", "Bash(git", "[a, [b]]", "a: b", '"a', "[a, {b: c}]", '"\\a"'])
@pytest.mark.parametrize("description", ["D", "Limits: many"])
def test_what_restricts_and_cannot_be_read_refuses_the_skill(field: str, written: str, description: str) -> None:
    told = refused(f"name: a-skill\ndescription: {description}\n{field}: {written}\n")
    assert (told[0].code, told[0].primary.line) == ("EVA-807", 4)
    assert field in told[0].message


@pytest.mark.parametrize("line", [" allowed-tools: Read", "    requires_bins: rg", "  Allowed_Tools: Read"])
def test_what_restricts_does_not_vanish_inside_of_another_field(line: str) -> None:
    assert [one.code for one in refused(f"name: a-skill\ndescription: Does much\n{line}\n")] == ["EVA-807"]


@pytest.mark.parametrize("key", ["allowed_tools", "allowedTools", "Allowed-Tools"])
def test_what_restricts_is_known_in_any_spelling(key: str) -> None:
    assert skill(f"name: a-skill\ndescription: D\n{key}: Read\n").allowed_tools == ("Read",)
    twice = refused(f"name: a-skill\ndescription: D\n{key}: Read Write\nallowed-tools: Read\n")
    assert "twice" in twice[0].message or key == "allowed-tools"


@pytest.mark.parametrize(("written", "always"), [("true", True), ("True", True), ("false", False), ("", False)])
def test_always_is_true_only_where_it_says_so(written: str, always: bool) -> None:
    assert skill(f"name: a-skill\ndescription: D\nalways: {written}\n").always is always


@pytest.mark.parametrize("written", ["yes", "1", "[true]", "treu"])
def test_an_always_that_is_not_understood_widens_nothing(written: str) -> None:
    found = skill(f"name: a-skill\ndescription: D\nalways: {written}\n")
    assert (found.always, codes(found)) == (False, ["EVA-809"])


@pytest.mark.parametrize(("written", "by_hand"), [("true", True), ("false", False), ("", False)])
def test_a_skill_may_be_for_people_only(written: str, by_hand: bool) -> None:
    assert skill(f"name: a-skill\ndescription: D\ndisable-model-invocation: {written}\n").by_hand is by_hand


@pytest.mark.parametrize("written", ["yes", "[true]", "{a", "maybe: not"])
def test_a_skill_that_may_be_for_people_only_is_refused_where_that_cannot_be_told(written: str) -> None:
    told = refused(f"name: a-skill\ndescription: D\ndisable-model-invocation: {written}\n")
    assert [one.code for one in told] == ["EVA-807"]


def test_unknown_fields_are_kept_as_they_are() -> None:
    found = skill(
        "name: a-skill\ndescription: D\nlicense: Apache-2.0\nupdated: 2026-01-31\nargument-hint: [file] [line]\n"
        "metadata:\n  author: someone\n  openclaw: {emoji: 'x', os: [darwin, linux]}\nuser-invocable: no\n"
    )
    assert found.fields["updated"] == "2026-01-31"
    assert found.fields["user-invocable"] == "no"
    assert found.fields["argument-hint"] == "[file] [line]"
    assert found.fields["metadata"] == {"author": "someone", "openclaw": {"emoji": "x", "os": ["darwin", "linux"]}}
    assert codes(found) == ["EVA-805"]


def test_a_broken_field_that_nobody_needs_is_kept_as_it_is_written() -> None:
    found = skill("name: a-skill\ndescription: D\nmetadata:\n  author: a: b\n")
    assert (found.fields["metadata"], codes(found)) == ("author: a: b", ["EVA-805"])


@pytest.mark.parametrize(
    "front",
    [
        "name: A Skill\ndescription: D\n",
        "name: another\ndescription: D\n",
        f"name: a-skill\ndescription: {'x' * 1025}\n",
        f"name: {'a' * 65}\ndescription: D\n",
        f"name: a-skill\ndescription: D\ncompatibility: {'x' * 501}\n",
        "description: D\n",
    ],
)
def test_limits_of_the_specification_are_warnings(front: str) -> None:
    found = skill(front)
    assert set(codes(found)) == {"EVA-808"}
    assert {one.level.value for one in found.diagnostics} == {"warning"}
    assert found.name


def test_a_long_body_is_a_warning() -> None:
    assert codes(skill("name: a-skill\ndescription: D\n", "line\n" * 600)) == ["EVA-808"]


def test_a_name_that_cannot_be_shown_is_replaced_by_that_of_the_folder() -> None:
    found = skill('name: "a\\eskill"\ndescription: D\n')
    assert (found.name, codes(found)) == ("a-skill", ["EVA-809"])


def test_a_comment_that_cuts_a_value_short_is_told() -> None:
    found = skill("name: a-skill\ndescription: Mends issue #12 and more\n")
    assert (found.description, codes(found)) == ("Mends issue", ["EVA-815"])
    assert found.diagnostics[0].primary.column == 26


@pytest.mark.parametrize("field", ["kind", "class"])
def test_a_runtime_worker_is_one(field: str) -> None:
    found = skill(f"name: a-skill\ndescription: D\n{field}: runtime_worker\n")
    assert (found.kind, codes(found)) == (SkillClass.WORKER, ["EVA-813"])


def test_secrets_are_not_shown_in_what_is_said() -> None:
    found = skill("name: a-skill\ndescription: D\napi_key: [hunter2-hunter2\n")
    assert "hunter2" not in found.diagnostics[0].rendered


def test_what_is_broken_all_over_is_refused_and_not_told_line_by_line() -> None:
    many = "".join(f"key{n}: a: b\n" for n in range(90))
    found = skill(f"name: a-skill\ndescription: D\n{many}")
    assert len(found.diagnostics) == 20
    for front in (many * 2, f"name: a-skill\ndescription: a: b\nlong: {'x' * 70_000}\n"):
        assert [one.code for one in refused(front)] == ["EVA-804"]


def test_nobody_requires_more_than_a_hundred_things() -> None:
    (told,) = refused(f"name: a-skill\ndescription: D\nrequires_bins: {' '.join(map(str, range(200)))}\n")
    assert (told.code, "more than 100" in told.message) == ("EVA-807", True)
