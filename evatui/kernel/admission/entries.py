"""Rules for what manifests and policies both speak of: paths, permission entries, names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.admission.records import ListOf, Record
from evatui.kernel.admission.report import Fault, Pointer, Report
from evatui.kernel.admission.rules import INVALID, Choice, Rule, Text, dotted
from evatui.kernel.model.permissions import ALL
from evatui.kernel.model.topic import is_topic_pattern
from evatui.kernel.workspace.paths import HERE, InvalidPath, is_plain, normal

__all__ = [
    "COMMANDS",
    "COMMANDS_EXAMPLE",
    "CREDENTIAL",
    "HOST",
    "HOSTS_EXAMPLE",
    "ID_GLOB",
    "METHODS",
    "NAME_GLOB",
    "FilePath",
    "FlagOr",
    "Grant",
    "GrantPath",
    "Topic",
]

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
HOSTS_EXAMPLE = "network: {hosts: [api.example.org]}"
COMMANDS_EXAMPLE = "shell: {commands: [[git, status]]}"
HOST = Text("a host name, or *.domain", re.compile(rf"\*|(?:\*\.)?{_LABEL}(?:\.{_LABEL})*", re.ASCII), 253)
METHODS = Choice(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", ALL))
COMMANDS = ListOf(ListOf(Text("a word of a command"), shortest=1, whole=True))
CREDENTIAL = Text("the name of a credential", re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}|\*", re.ASCII))
NAME_GLOB = Text(
    "a capability name, or a pattern with *", re.compile(r"[A-Za-z0-9_*-]+(?:\.[A-Za-z0-9_*-]+)*", re.ASCII)
)
ID_GLOB = Text("an id, or a pattern with *", re.compile(r"[A-Za-z0-9*][A-Za-z0-9_.*-]{0,127}", re.ASCII))

_PATH = Text("a path relative to the workspace", longest=1_000)
_PATH_FIX = "Write the path from the workspace folder on, with /, and move the file there if it lies elsewhere."
_ROOTED = Text("root, or root/sub/path", longest=1_000)
_TOPIC = Text("a topic pattern such as /repo/**")


@dataclass(frozen=True, slots=True)
class FilePath:
    """A path to a file, relative to the workspace, with ``/``; kept as it is written."""

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        text = _PATH.read(value, at, report)
        if text is INVALID:
            return INVALID
        try:
            normal(text)
        except InvalidPath as problem:
            turned = text.replace("\\", "/")
            instead = turned if turned != text and is_plain(turned) else None
            report.fault(Fault.PATH, f"{report.shown(at)}: {problem}", at, instead=instead, fix=_PATH_FIX)
            return INVALID
        return text

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": 1_000, "pattern": r"^[^/\\~]"}


@dataclass(frozen=True, slots=True)
class GrantPath:
    """``root`` or ``root/sub/path``, or ``*``."""

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        text = _ROOTED.read(value, at, report)
        if text is INVALID or text == ALL:
            return text
        if not _is_normal(text):
            message = f"{report.shown(at)} is no plain path from a root, such as workspace or workspace/docs"
            fix = "Write a root of eva.yaml, such as workspace, and the folders below it: workspace/docs."
            report.fault(Fault.PATH, message, at, fix=fix)
            return INVALID
        if ALL in text:
            report.fault(Fault.FORM, f'{report.shown(at)}: only "*" alone may stand for all paths', at)
            return INVALID
        return text

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": 1_000, "pattern": r"^(?:\*|[^/\\~*]+(?:/[^/\\*]+)*)$"}


def _is_normal(text: str) -> bool:
    try:
        return normal(text) == text != HERE
    except InvalidPath:
        return False


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic pattern, or ``*``."""

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        text = _TOPIC.read(value, at, report)
        if text is INVALID or text == ALL or is_topic_pattern(text):
            return text
        report.fault(Fault.FORM, f"{report.shown(at)} is no topic pattern such as /repo/**", at)
        return INVALID

    def schema(self) -> dict[str, Any]:
        return {
            "type": "string",
            "pattern": r"^(?:\*|(?:/(?:[A-Za-z0-9_.-]{1,64}|\*)){0,15}/(?:[A-Za-z0-9_.-]{1,64}|\*\*?))$",
        }


@dataclass(frozen=True, slots=True)
class Grant:
    """A permission list: entries, or ``"*"`` alone."""

    item: Rule
    _list: ListOf = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_list", ListOf(self.item, star=True))

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        return self._list.read(value, at, report)

    def schema(self) -> dict[str, Any]:
        return self._list.schema()


@dataclass(frozen=True, slots=True)
class FlagOr:
    """``false``, or a block that says it in detail, as in ``example``; or ``true``, unless ``refusal`` says why not."""

    record: Record
    example: str
    refusal: str = ""

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if isinstance(value, dict):
            return self.record.read(value, at, report)
        if not isinstance(value, bool):
            message = f"{dotted(at)} wants false, or what it is about, found {report.shown(at)}"
            # Only the least is offered, never all of it, whatever was meant.
            least = isinstance(value, str) and value.lower() in ("false", "no", "off")
            label, instead = ("write false", "false") if least else ("", None)
            fix = f"Say it in detail, as in {self.example}, or leave it out."
            report.fault(Fault.TYPE, message, at, label=label, instead=instead, fix=fix)
            return INVALID
        if value and self.refusal:
            report.fault(Fault.ASKS_ALL, f"{at[-1]}: true is refused: {self.refusal}", at)
            return INVALID
        return value

    def schema(self) -> dict[str, Any]:
        flag = {"const": False} if self.refusal else {"type": "boolean"}
        return {"anyOf": [flag, self.record.schema()]}
