"""The index and the context of skills: exactly in shape, and saying what the files say."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from evatui.extensions.prompts.context import context, joined
from evatui.extensions.shared.layers import Layer, LayerKind
from evatui.extensions.shared.local import UserLocal
from evatui.extensions.skills.catalogue import Catalogue, Copy, Looked, catalogue
from evatui.extensions.skills.index import index
from evatui.extensions.skills.package import Package
from evatui.extensions.skills.read import read_skill
from evatui.extensions.skills.skill import Skill

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")


def known(*skills: tuple[str, str, dict[str, str]], missing: tuple[str, ...] = ()) -> Catalogue:
    layer = Layer("skills", LayerKind.PROJECT, __file__, "skills", "skills")  # type: ignore[arg-type]
    copies = []
    for name, description, fields in skills:
        lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
        location = f"skills/{name}/SKILL.md"
        data = f"---\nname: {name}\ndescription: {description}\n{lines}---\nBody of {name}\n"
        skill = read_skill(data.encode(), location, name)
        assert isinstance(skill, Skill), skill.diagnostics
        copies.append(
            Copy(layer, location, skill, "", Package() if "tools" in fields else None, missing if fields else ())
        )
    return catalogue(Looked((layer,), tuple(copies)), UserLocal(False))


def test_the_index_has_exactly_this_shape() -> None:
    found = known(("weather", "Tells the weather.", {"tools": "yes"}), ("deep-search", "Searches <all> of it.", {}))
    assert index(found.skills) == (
        "<skills>\n"
        '  <skill available="true" tools="false">\n'
        "    <name>deep-search</name>\n"
        "    <description>Searches &lt;all&gt; of it.</description>\n"
        "    <location>skills/deep-search/SKILL.md</location>\n"
        "  </skill>\n"
        '  <skill available="true" tools="true">\n'
        "    <name>weather</name>\n"
        "    <description>Tells the weather.</description>\n"
        "    <location>skills/weather/SKILL.md</location>\n"
        "  </skill>\n"
        "</skills>"
    )


def test_no_skills_are_no_text() -> None:
    assert index(known().skills) == ""
    assert joined(context(known())) == ""


def test_ten_thousand_hostile_characters_parse_and_say_the_same() -> None:
    text = (
        "</description></skill><skill available='true'> & \"quoted\" 'too' ]]> <!-- \x07\x1b[31m \x85 \u202e é 😀 \n|"
        * 120
    )
    (one,) = known(("x", json.dumps(text).replace("\\ud83d\\ude00", "😀"), {})).skills
    assert one.copy.skill.description == text
    assert len(text) > 10_000
    (skill,) = ElementTree.fromstring(index([one]))
    assert skill.findtext("description") == CONTROL.sub("", text)
    assert [child.tag for child in skill] == ["name", "description", "location"]


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=50))
def test_any_text_parses_and_says_the_same(description: str, name: str) -> None:
    layer = Layer("skills", LayerKind.PROJECT, __file__, "skills", "skills")  # type: ignore[arg-type]
    skill = Skill(name=name, description=description, fields={}, body="")
    found = catalogue(Looked((layer,), (Copy(layer, "skills/x/SKILL.md", skill, "", None, ()),)), UserLocal(False))
    (read,) = ElementTree.fromstring(index(found.skills))
    told = {key: CONTROL.sub("", text) for key, text in (("description", description), ("name", name))}
    assert {key: read.findtext(key) for key in told} == told


def test_the_context_is_the_index_and_what_is_always_wanted_each_once_with_its_place() -> None:
    found = known(("a", "A", {"always": "true"}), ("b", "B", {}), ("c", "C", {"always": "false"}))
    parts = context(found)
    assert [(part.why, part.name, part.location) for part in parts] == [
        ("index", "", ""),
        ("always", "a", "skills/a/SKILL.md"),
    ]
    assert joined(parts) == f"{index(found.skills)}\n---\n<!-- skills/a/SKILL.md -->\nBody of a"


def test_what_is_for_people_only_is_in_no_prompt() -> None:
    assert context(known(("a", "A", {"always": "true", "disable-model-invocation": "true"}))) == ()


def test_what_cannot_be_used_is_in_the_index_and_its_text_nowhere() -> None:
    found = known(("a", "A", {"always": "true"}), missing=("rg",))
    (part,) = context(found)
    assert 'available="false"' in part.text
    assert "Body" not in part.text
