"""The format of an adapter manifest, as one table: keys, rules, defaults."""

from __future__ import annotations

import re

from evatui.kernel.admission.entries import CREDENTIAL, FilePath
from evatui.kernel.admission.hardware_rules import HARDWARE
from evatui.kernel.admission.manifest_rules import GATE, ID, PERMISSIONS, SCHEMA
from evatui.kernel.admission.records import Field, ListOf, MapOf, Record
from evatui.kernel.admission.rules import Choice, Flag, Free, Integer, Nullable, Rule, Text
from evatui.kernel.model.ids import CAPABILITY_NAME, VERSION
from evatui.kernel.model.manifest import SideEffects

__all__ = ["ADAPTER", "MCP", "TRANSPORTS"]

TRANSPORTS = ("mcp", "stdio", "http", "eventbus", "skill", "hardware")

_NAME = Text("a capability name: dotted segments of A-Z a-z 0-9 _ -", CAPABILITY_NAME, 200)
_URL = Text("a URL", re.compile(r"https?://\S+"), 2_000)
_ARGV = ListOf(Text("a word of a command"), shortest=1)
_ENV = ListOf(CREDENTIAL)
_TOPIC = Text("a topic such as /jobs/request", re.compile(r"(?:/[A-Za-z0-9_.-]{1,64}){1,16}", re.ASCII))
_HEADER = Record({"credential": Field(CREDENTIAL, "The credential of the policy that it carries.", required=True)})
_HEADERS = MapOf(re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII), "a header", _HEADER)
_ALIAS = Record(
    {
        "tool": Field(Text("a tool name"), "The tool that answers.", required=True),
        "arguments": Field(Free(), "What it is sent besides the payload.", {}),
    }
)
_NAMES = ListOf(Text("a name, or a pattern with *"))
MCP = Record(
    {
        "server": Field(Choice(("stdio", "http")), "How the server is reached.", required=True),
        "command": Field(Nullable(_ARGV), "What starts a stdio server.", None),
        "env": Field(_ENV, "Credentials that it is given.", []),
        "url": Field(Nullable(_URL), "Where an http server is.", None),
        "headers": Field(_HEADERS, "Headers that carry credentials.", {}),
        "allow_loopback": Field(Flag(), "May the address be this machine?", False),
        "tools": Field(_NAMES, "Tools that may be called; absent is none.", []),
        "resources": Field(_NAMES, "Resources that may be read; absent is none.", []),
        "prompts": Field(_NAMES, "Prompts that may be asked for; absent is none.", []),
        "aliases": Field(MapOf(CAPABILITY_NAME, "a capability name", _ALIAS), "Names of your own for tools.", {}),
        "elicitation": Field(
            Choice(("refuse", "defaults")), "What a server gets that asks for input in mid-call.", "refuse"
        ),
        "start_timeout_ms": Field(Integer(), "How long the server may take to start.", 10_000),
        "call_timeout_ms": Field(Integer(), "How long a call may take.", 60_000),
    }
)
_STDIO = Record(
    {
        "command": Field(_ARGV, "The program and its arguments.", required=True),
        "env": Field(_ENV, "Credentials that it is given.", []),
        "cwd": Field(Nullable(FilePath()), "The folder where it runs, relative to the workspace.", None),
    }
)
_HTTP = Record(
    {
        "url": Field(_URL, "The address.", required=True),
        "method": Field(Choice(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")), "The method.", "POST"),
        "headers": Field(_HEADERS, "Headers that carry credentials.", {}),
        "allow_loopback": Field(Flag(), "May the address be this machine?", False),
    }
)
_EVENTBUS = Record(
    {
        "request_topic": Field(_TOPIC, "Where requests are put.", required=True),
        "reply_topic": Field(_TOPIC, "Where answers are awaited.", required=True),
    }
)
_SKILL = Record({"name": Field(Text("the name of a skill"), "The skill that answers.", required=True)})
_BLOCKS: dict[str, Rule] = {
    "mcp": MCP,
    "stdio": _STDIO,
    "http": _HTTP,
    "eventbus": _EVENTBUS,
    "skill": _SKILL,
    "hardware": HARDWARE,
}
_CONTRACT = Record(
    {
        "input": Field(SCHEMA, "What callers may send.", required=True),
        "output": Field(SCHEMA, "What it may answer.", required=True),
    }
)

ADAPTER = Record(
    {
        "id": Field(ID, "Stable over all updates.", required=True),
        "name": Field(Text("a name", longest=200), "For people; the id by default.", ""),
        "version": Field(
            Text("a semantic version such as 1.0.0", VERSION, 128, endings=(".0", ".0.0")), "Semantic.", required=True
        ),
        "enabled": Field(Flag(), "Use it?", True),
        "priority": Field(Integer(0, 100), "Among providers of one name the higher wins; ties by id.", 50),
        "transport": Field(Choice(TRANSPORTS), "How it reaches what answers.", required=True),
        "capabilities": Field(ListOf(_NAME, folded=True), "The names under which it can be called.", []),
        "schemas": Field(MapOf(CAPABILITY_NAME, "a capability name", _CONTRACT), "Schemas, by capability name.", {}),
        "permissions": Field(PERMISSIONS, "What it may reach; absent is nothing."),
        "side_effects": Field(
            Choice(tuple(SideEffects)),
            "What a call does: one that mutates is never tried elsewhere once it was sent.",
            SideEffects.MUTATING.value,
        ),
        "limits": Field(
            Record(
                {
                    "timeout_ms": Field(Integer(), "Wall time of a call.", 30_000),
                    "concurrency": Field(Integer(), "Calls that run at once.", 4),
                    "max_input_bytes": Field(Integer(), "Size of a call's payload.", 65_536),
                    "max_output_bytes": Field(Integer(), "Size of an answer.", 262_144),
                    "rate_per_s": Field(Nullable(Integer()), "Calls a second, at most.", None),
                }
            ),
            "What a call may use.",
        ),
        "breaker": Field(
            Record(
                {
                    "failures": Field(Integer(), "Failures in a row that open it.", 3),
                    "recovery_ms": Field(Integer(), "How long it stays open.", 30_000),
                }
            ),
            "When it is left alone for a while.",
        ),
        "runtime_gate": Field(Nullable(GATE), "When it may answer; for the transport skill only.", None),
        **{name: Field(Nullable(block), f"For the transport {name} only.", None) for name, block in _BLOCKS.items()},
    }
)
