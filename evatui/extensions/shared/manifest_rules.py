"""The format of a plugin's ``manifest.json``, as one table: keys, rules, defaults."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from evatui.kernel.admission.entries import CREDENTIAL, FilePath
from evatui.kernel.admission.records import Field, ListOf, MapOf, Record
from evatui.kernel.admission.report import Fault, Pointer, Report
from evatui.kernel.admission.rules import INVALID, Choice, Flag, Free, Integer, Nullable, Text, dotted
from evatui.kernel.workspace.paths import InvalidPath, normal

__all__ = ["BLOCKED", "HOOK_EVENTS", "PLUGIN", "is_blocked"]

BLOCKED: Final = frozenset(
    {
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"),
        *("DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH"),
        *("DYLD_FALLBACK_LIBRARY_PATH", "DYLD_VERSIONED_LIBRARY_PATH"),
        *("NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "RUBYLIB"),
        *("JAVA_TOOL_OPTIONS", "BASH_ENV", "ENV", "ZDOTDIR"),
    }
)
"""The eighteen variables that make a program run what somebody else wants."""
_LOADERS: Final = ("LD_", "DYLD_", "PYTHON", "EVA_", "OCTOS_")
"""Beginnings of names that change what is loaded, or that the runtime itself gives."""
HOOK_EVENTS: Final = (
    "before_tool_call",
    "after_tool_call",
    "before_llm_call",
    "after_llm_call",
    "on_resume",
    "on_turn_end",
    "before_spawn_verify",
    "on_spawn_verify",
    "on_spawn_complete",
    "on_spawn_failure",
)
_MAX_WORDS: Final = 64


def is_blocked(name: str) -> bool:
    """May no plugin have this variable, whatever its manifest and the policy say?"""
    return name.upper() in BLOCKED or name.upper().startswith(_LOADERS)


class _Pattern(Text):
    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        pattern = Text.read(self, value, at, report)
        try:
            return pattern if pattern is INVALID else normal(pattern)
        except InvalidPath as problem:
            report.fault(Fault.PATH, f"{dotted(at)}: {report.shown(at)}: {problem}", at)
            return INVALID


class _Variable(Text):
    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        name = Text.read(self, value, at, report)
        if name is not INVALID and is_blocked(name):
            report.fault(Fault.FORM, f"{dotted(at)}: {name} is given to no plugin: it would change what runs", at)
            return INVALID
        return name


_NAME = Text("a name of letters, digits, - and _", re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII), 64)
_VARIABLE = _Variable("the name of a variable", re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII))
_SHA256 = Text("a SHA-256 digest of 64 lower-case hexadecimal digits", re.compile(r"[0-9a-f]{64}", re.ASCII), 64)
_PROSE = Text(empty=True)
_LINE = Text(longest=400, empty=True)
_PATTERN = _Pattern("a pattern of files")
_WORD = Text("a word of a command")


@dataclass(frozen=True, slots=True)
class _Words:
    """Words in their order, also twice; at least ``shortest``."""

    shortest: int

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if not isinstance(value, list) or not self.shortest <= len(value) <= _MAX_WORDS:
            report.fault(Fault.FORM, f"{dotted(at)} wants a list of {self.shortest} to {_MAX_WORDS} words", at)
            return INVALID
        words = [_WORD.read(word, (*at, index), report) for index, word in enumerate(value)]
        return INVALID if INVALID in words else words

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": _WORD.schema(), "minItems": self.shortest, "maxItems": _MAX_WORDS}


_TOOL = Record(
    {
        "name": Field(_NAME, "The name that it is called by.", required=True),
        "description": Field(_PROSE, "What it does, for whoever chooses.", ""),
        "input_schema": Field(Free(), "What callers may send.", {"type": "object"}),
        "entrypoint": Field(Nullable(FilePath()), "A program of its own, in the plugin's folder.", None),
        "env": Field(ListOf(_VARIABLE), "Variables that it is given.", []),
        "risk": Field(
            Choice(("low", "medium", "high", "critical")), "high and critical ones only a person calls.", "low"
        ),
        "concurrency_class": Field(Text(longest=40), "safe: several calls at once; anything else: alone.", "exclusive"),
        "spawn_only": Field(Flag(), "Runs in the background, and answers at once?", False),
        "spawn_only_message": Field(_PROSE, "What it answers then.", ""),
    }
)
_HEADER = Record({"credential": Field(CREDENTIAL, "The credential of the policy that it carries.", required=True)})
_SERVER = Record(
    {
        "command": Field(Nullable(_WORD), "What starts a server that speaks over its pipes.", None),
        "args": Field(_Words(0), "Its arguments.", []),
        "env": Field(ListOf(_VARIABLE), "Credentials that it is given.", []),
        "url": Field(Nullable(Text("a URL", re.compile(r"https?://\S+"), 2_000)), "Where another one is.", None),
        "headers": Field(
            MapOf(re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII), "a header", _HEADER), "That carry credentials.", {}
        ),
    }
)
_HOOK = Record(
    {
        "event": Field(Choice(HOOK_EVENTS), "When it is run.", required=True),
        "command": Field(_Words(1), "What is run; ./ is the plugin's own folder.", required=True),
        "timeout_ms": Field(Integer(1, 60_000), "How long it may take.", 5_000),
        "tool_filter": Field(ListOf(Text("a tool, or a pattern with *")), "Only for calls of these; [] is all.", []),
    }
)
_REQUIRES = Record(
    {
        "bins": Field(ListOf(Text("the name of a program", re.compile(r"[^/\s]+"), 128)), "Programs.", []),
        "env": Field(ListOf(_VARIABLE), "Variables that have to be set.", []),
        "os": Field(ListOf(Choice(("linux", "macos", "darwin", "windows"))), "Systems; [] is any.", []),
    }
)

PLUGIN = Record(
    {
        "name": Field(Nullable(_NAME), "Stable over all updates.", None),
        "id": Field(Nullable(_NAME), "The same, as other programs write it.", None),
        "version": Field(_LINE, "For people, and for records.", ""),
        "type": Field(Nullable(Choice(("tool", "skill", "channel", "hook"))), "By default what it holds.", None),
        "description": Field(_PROSE, "What it is for.", ""),
        "author": Field(_LINE, "Who made it.", ""),
        "homepage": Field(_LINE, "Where to read more.", ""),
        "license": Field(_LINE, "Under what terms it may be used.", ""),
        "binary": Field(Nullable(FilePath()), "The program, where its name does not tell.", None),
        "tools": Field(ListOf(_TOOL, longest=200), "What can be called.", []),
        "sha256": Field(Nullable(_SHA256), "Of the program.", None),
        "timeout_secs": Field(Integer(1, 1_800), "How long a call may take.", 600),
        "requires_network": Field(Flag(), "Does it connect to anything?", False),
        "requires": Field(_REQUIRES, "What it needs of the machine."),
        "mcp_servers": Field(ListOf(_SERVER, longest=20), "MCP servers that it brings along.", []),
        "hooks": Field(ListOf(_HOOK, longest=50), "What is run around calls.", []),
        "prompts": Field(
            Record({"include": Field(ListOf(_PATTERN), "Files of the plugin, as patterns.", [])}), "Texts for prompts."
        ),
        "config_schema": Field(Nullable(Free()), "Of its settings; shown.", None),
        "install": Field(ListOf(Free(), longest=50), "How to get what it needs; shown, never done.", []),
        "binaries": Field(
            MapOf(
                re.compile(r"[a-z0-9_]{1,32}-[a-z0-9_]{1,32}", re.ASCII),
                "a system and a machine, such as linux-x86_64",
                Record(
                    {
                        "url": Field(Text("a URL", longest=2_000), "Where it is.", required=True),
                        "sha256": Field(_SHA256, "Of what is there.", required=True),
                    }
                ),
            ),
            "Where built programs are; shown, never fetched.",
            {},
        ),
    }
)
"""``name`` or ``id`` is needed; the reader sees to that."""
