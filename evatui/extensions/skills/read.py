"""From the bytes of a ``SKILL.md`` to a skill, or to all that is wrong with it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import Any

from evatui.extensions.shared.folders import SKILL_FILE
from evatui.extensions.skills.front_matter import Front, NoFront, split
from evatui.extensions.skills.reading import Fields, hopeless
from evatui.extensions.skills.reading import read as read_fields
from evatui.extensions.skills.skill import Refused, Skill, SkillClass
from evatui.extensions.skills.words import NoWords, words
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.render import render_all
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.decoding import YamlProblem, decode
from evatui.kernel.workspace.yaml import Node, Style, plain

__all__ = ["read_skill"]

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
_LONGEST = {"name": 64, "description": 1024, "compatibility": 500}
_LINES = 500
_MAX_TOLD = 20
_FLAGS = {"true": True, "false": False, "": False, "~": False, "null": False}
_ABSENT = ("", "~", "null")


def read_skill(data: bytes, file: str, folder: str) -> Skill | Refused:
    """``file`` is how it is named in diagnostics, ``folder`` the name of the folder that it lies in."""
    found = _Reader(file, folder).read(data)
    return replace(found, diagnostics=render_all(_in_order(found.diagnostics)[:_MAX_TOLD], {file: data}))


def _in_order(found: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    return sorted(found, key=lambda one: (one.level is not Level.ERROR, one.primary.line if one.primary else 0))


class _Reader:
    def __init__(self, file: str, folder: str) -> None:
        self._file = file
        self._folder = folder
        self._found: list[Diagnostic] = []
        self._fields = Fields({}, {}, ())
        self._front = Front("", 1, "", "")

    def read(self, data: bytes) -> Skill | Refused:
        try:
            front = split(_text(data, self._file))
        except YamlProblem as problem:
            return Refused(self._folder, hopeless(problem.diagnostics))
        except NoFront as problem:
            where = Span(self._file, problem.line)
            return Refused(self._folder, (diagnose("EVA-802", problem.message, where),))
        self._fields = read_fields(front, self._file)
        self._found += self._fields.found
        if not self._fields.nodes and self._found:
            return Refused(self._folder, tuple(self._found))
        self._front = front
        skill = self._skill(front)
        return Refused(skill.name, skill.diagnostics) if _fails(skill) else skill

    def _skill(self, front: Front) -> Skill:
        if not self._file.endswith(SKILL_FILE):
            self._unlike(f"the file is not named {SKILL_FILE}, in capitals", Span(self._file))
        if front.before.strip():
            line = front.before[: len(front.before) - len(front.before.lstrip())].count("\n") + 1
            message = f"the front matter begins in line {front.line}: something stands before it"
            self._add("EVA-803", message, Span(self._file, line))
        if (lines := front.body.count("\n") + 1) > _LINES:
            self._unlike(f"the body has {lines:,} lines; more than {_LINES} are better split", self._end(front))
        description = self._description(front)
        return Skill(
            name=self._name(front),
            description=description,
            version=self._text("version"),
            kind=self._kind(),
            always=self._always(),
            by_hand=self._by_hand(),
            bins=self._words("requires_bins") or (),
            env=self._words("requires_env") or (),
            allowed_tools=self._words("allowed-tools"),
            fields={key: plain(node) for key, node in self._fields.nodes.items()},
            body=front.body,
            diagnostics=tuple(self._found),
        )

    # -- fields -----------------------------------------------------------------------------

    def _name(self, front: Front) -> str:
        name = unicodedata.normalize("NFC", self._text("name"))
        if not name:
            self._unlike(f"there is no name; {clean_line(self._folder, 80)} is used, as its folder", self._top(front))
            return self._folder
        where = self._span("name")
        if not name.isprintable():
            self._unfit("name", "one line without control characters; the name of its folder is used")
            return self._folder
        if not _NAME.fullmatch(name):
            self._unlike("a name is made of a-z, 0-9 and single hyphens between them", where)
        if name != unicodedata.normalize("NFC", self._folder):
            self._unlike(f"the name is not that of its folder, {clean_line(self._folder, 80)}", where)
        return name

    def _description(self, front: Front) -> str:
        node = self._fields.nodes.get("description")
        if node is not None and not isinstance(node.value, str):
            self._add("EVA-806", "the description must be text, but it is a list or a mapping", node.span(), error=True)
            return ""
        text = self._text("description")
        if not text and not any(one.level is Level.ERROR for one in self._fields.found):
            where = self._top(front) if node is None else self._span("description")
            self._add("EVA-806", "there is no description in the front matter", where, error=True)
        self._text("compatibility")
        return text

    def _kind(self) -> SkillClass:
        node = self._fields.nodes.get("kind")
        if node is not None and not isinstance(node.value, str) and not self._refused("kind"):
            self._add("EVA-807", "kind cannot be read: it must be text", node.span(), error=True)
            return SkillClass.WORKER
        if self._text("kind") != SkillClass.WORKER:
            return SkillClass.WORKFLOW
        self._add("EVA-813", "this is a runtime worker: it is shown, and never offered", self._span("kind"))
        return SkillClass.WORKER

    def _always(self) -> bool:
        text = self._text("always").casefold()
        if text not in _FLAGS:
            self._unfit("always", "true or false")
        return _FLAGS.get(text, False)

    def _by_hand(self) -> bool:
        name = "disable-model-invocation"
        node = self._fields.nodes.get(name)
        text = node.value.strip().casefold() if node is not None and isinstance(node.value, str) else None
        if node is not None and (text is None or text not in _FLAGS) and not self._refused(name):
            self._add("EVA-807", f"{name} must be true or false", node.span(), error=True)
        return _FLAGS.get(text or "", False)

    def _refused(self, name: str) -> bool:
        """Was it told already that the field cannot be read?"""
        return any(one.code == "EVA-807" and name in one.message for one in self._fields.found)

    def _words(self, name: str) -> tuple[str, ...] | None:
        node = self._fields.nodes.get(name)
        if node is None:
            return None
        try:
            return words(node)
        except NoWords as problem:
            if not self._refused(name):
                self._add("EVA-807", f"{name} cannot be read: {problem.message}", problem.node.span(), error=True)
            return ()

    def _text(self, name: str) -> str:
        """Empty where nothing is said. What is longer than it should be is told, and kept."""
        node = self._fields.nodes.get(name)
        if node is None:
            return ""
        if not isinstance(node.value, str):
            self._unfit(name, "text")
            return ""
        text = node.value.strip()
        if node.style is Style.PLAIN:
            self._look_behind(name, node)
            if text in _ABSENT:
                return ""
        if len(text) > (longest := _LONGEST.get(name, len(text))):
            self._unlike(f"{name} has {len(text):,} characters; at most {longest:,} are usual", node.span())
        return text

    def _look_behind(self, name: str, node: Node) -> None:
        """People write ``see issue #12`` without quotes, and mean all of it."""
        where, lines = node.place, self._front.text.split("\n")
        rest = lines[where.end_line - 1][where.end_column - 1 :]
        if rest.strip().startswith("#"):
            end = where.end_column + len(rest)
            span = Span(self._file, where.end_line, where.end_column + len(rest) - len(rest.lstrip()), None, end)
            self._add("EVA-815", f"{name} ends here: what follows # is a comment", span)

    # -- what is told -----------------------------------------------------------------------

    def _span(self, name: str) -> Span:
        node: Node = self._fields.nodes[name]
        return node.span() if node.text or not isinstance(node.value, str) else self._fields.keys[name].span(self._file)

    def _top(self, front: Front) -> Span:
        return Span(self._file, front.line, 1, front.line, 4)

    def _end(self, front: Front) -> Span:
        return Span(self._file, front.text.count("\n") + 1)

    def _unlike(self, message: str, where: Span) -> None:
        self._add("EVA-808", message, where)

    def _unfit(self, name: str, wanted: str) -> None:
        self._add("EVA-809", f"{name} must be {wanted}", self._span(name))

    def _add(self, code: str, message: str, where: Span, *, error: bool = False, **more: Any) -> None:
        level = Level.ERROR if error else Level.WARNING
        self._found.append(diagnose(code, message, where, level=level, **more))


def _fails(skill: Skill) -> bool:
    return any(one.level is Level.ERROR for one in skill.diagnostics)


def _text(data: bytes, file: str) -> str:
    """Only the front matter has to be free of control characters; raises `YamlProblem` for what is not UTF-8."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return decode(data, file)
