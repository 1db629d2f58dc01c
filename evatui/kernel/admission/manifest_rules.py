"""The format of a manifest, as one table: keys, rules, defaults."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from evatui.kernel.admission.entries import (
    COMMANDS,
    COMMANDS_EXAMPLE,
    CREDENTIAL,
    HOST,
    HOSTS_EXAMPLE,
    ID_GLOB,
    METHODS,
    NAME_GLOB,
    FilePath,
    FlagOr,
    Grant,
    GrantPath,
    Topic,
)
from evatui.kernel.admission.manifest_checks import belongs_to_kind, migration_goes_up, migrations_fit
from evatui.kernel.admission.records import Field, ListOf, MapOf, Record
from evatui.kernel.admission.report import Fault, Pointer, Report
from evatui.kernel.admission.rules import INVALID, Choice, Flag, Free, Integer, Nullable, Number, Text
from evatui.kernel.model.ids import CAPABILITY_ID, CAPABILITY_NAME, VERSION
from evatui.kernel.model.manifest import AuditLevel, ExamplesPolicy, Isolation, Kind, SideEffects, TrustSource

__all__ = ["ID", "MANIFEST", "PERMISSIONS", "SCHEMA"]

ID = Text("an id of 1 to 128 characters A-Z a-z 0-9 _ . -, the first a letter or digit", CAPABILITY_ID)
_FUNCTION = Text("the name of a Lua function", re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII))
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)
_TOOL_NAME = Text("a tool name", re.compile(r"[A-Za-z0-9_.-]{1,128}", re.ASCII))
_SHA256 = Text("a SHA-256 digest of 64 hexadecimal digits", re.compile(r"[0-9a-fA-F]{64}", re.ASCII))
_FILE = FilePath()
_MODES = Choice(("normal", "team", "swarm", "ralph", "maintenance"))
_AUDIT_LEVEL = Choice(tuple(AuditLevel))


class _KindRule(Choice):
    """One of the kinds; a runtime worker gets a reason of its own."""

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if value == "runtime_worker":
            report.fault(Fault.RUNTIME_WORKER, "a runtime_worker is never a capability", at)
            return INVALID
        return Choice.read(self, value, at, report)


@dataclass(frozen=True, slots=True)
class _SchemaRule:
    """A path, or the schema itself."""

    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        if isinstance(value, dict):
            return value
        if value is None or isinstance(value, list | bool):
            message = f"{at[-1]} wants a path or an inline schema, found {report.shown(at)}"
            report.fault(Fault.TYPE, message, at)
            return INVALID
        return _FILE.read(value, at, report)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [FilePath().schema(), {"type": "object"}]}


SCHEMA = _SchemaRule()


_LUA = Record(
    {
        "script": Field(FilePath(), "The Lua file, relative to the workspace.", required=True),
        "entry": Field(_FUNCTION, "The function that answers calls.", "invoke"),
        "health_check": Field(Nullable(_FUNCTION), "A function that says whether this version is well.", None),
        "modules": Field(
            MapOf(_MODULE, "the name of a Lua module", FilePath()), "What require may find: name to path.", {}
        ),
    }
)
_NETWORK = Record(
    {
        "hosts": Field(Grant(HOST), "Host names that may be reached.", []),
        "methods": Field(Grant(METHODS), "HTTP methods that may be used.", ["GET"]),
    }
)
PERMISSIONS = Record(
    {
        "fs": Field(
            Record(
                {
                    "read": Field(Grant(GrantPath()), "Roots or root/sub/paths that may be read.", []),
                    "write": Field(Grant(GrantPath()), "Roots or root/sub/paths that may be written.", []),
                }
            ),
            "Files, by root.",
        ),
        "network": Field(
            FlagOr(_NETWORK, HOSTS_EXAMPLE),
            "false, or hosts and methods; true asks for every host.",
            False,
        ),
        "shell": Field(
            FlagOr(
                Record({"commands": Field(COMMANDS, "Fixed argv prefixes.", [])}),
                COMMANDS_EXAMPLE,
                refusal="it asks for every command",
            ),
            "false, or a list of command prefixes.",
            False,
        ),
        "env": Field(Grant(CREDENTIAL), "Names of credentials that the kernel may inject; never readable.", []),
        "adapters": Field(
            Record(
                {
                    "capabilities": Field(Grant(NAME_GLOB), "Capability names that may be called.", []),
                    "providers": Field(Grant(ID_GLOB), "Providers that may be named in a call.", []),
                }
            ),
            "Other capabilities that may be called.",
        ),
        "events": Field(Record({"emit": Field(Grant(Topic()), "Topics that may be emitted.", [])}), "Events."),
    }
)
_LIMITS = Record(
    {
        "timeout_ms": Field(Integer(), "Wall time of a call.", 30_000),
        "max_input_bytes": Field(Integer(), "Size of a call's payload.", 65_536),
        "max_output_bytes": Field(Integer(), "Size of an answer.", 262_144),
        "concurrency": Field(Integer(), "Calls that run at once.", 4),
        "memory_bytes": Field(Integer(), "Memory of one Lua state.", 16_777_216),
        "host_calls": Field(Integer(0), "Host calls within one call.", 1_000),
        "state_bytes": Field(Integer(0), "Size of the durable state.", 1_048_576),
    }
)
_CANARY = Record(
    {
        "percent": Field(Number(0, 100), "Share of calls that the new version takes.", 10),
        "workspaces": Field(ListOf(Text()), "Workspaces whose calls it takes.", []),
        "users": Field(ListOf(Text()), "Users whose calls it takes.", []),
        "tags": Field(MapOf(re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII), "a tag", Text()), "Tags of such calls.", {}),
    }
)
_ANALYSIS = Record(
    {
        "min_samples": Field(Integer(), "Calls before a canary may pass.", 20),
        "window_s": Field(Integer(), "Seconds of calls that are counted.", 60),
        "max_error_rate": Field(Number(0, 1), "Faults among calls, at most.", 0.2),
        "deadline_s": Field(Integer(), "Seconds until a verdict must stand.", 600),
        "on_insufficient_data": Field(Choice(("hold", "promote", "abort")), "What to do without a verdict.", "hold"),
    }
)
_RELOAD = Record(
    {
        "hot_reload": Field(Flag(), "May a change on disk replace the running version?", True),
        "strategy": Field(Choice(("generation_swap",)), "How it is replaced.", "generation_swap"),
        "drain_timeout_ms": Field(Integer(0), "How long running calls may finish on the old version.", 10_000),
        "rollback_on_failure": Field(Flag(), "Go back when the new version fails too often?", True),
        "canary": Field(Nullable(_CANARY), "Calls that a new version takes before all others.", None),
        "analysis": Field(_ANALYSIS, "When a canary passes or fails."),
        "examples": Field(
            Choice(tuple(ExamplesPolicy)), "May a version go live whose examples fail?", ExamplesPolicy.WARN.value
        ),
    }
)
_MIGRATION = Record(
    {
        "from": Field(Integer(), "Schema version of the old state.", required=True),
        "to": Field(Integer(), "Schema version of the new state.", required=True),
        "entry": Field(_FUNCTION, "The function that carries it over.", required=True),
    },
    migration_goes_up,
)
_MCP = Record(
    {
        "tool_name": Field(_TOOL_NAME, "The tool's name for MCP clients.", required=True),
        "description": Field(Text("a description", empty=True), "What MCP clients are told.", ""),
        "exposed_name": Field(Nullable(_TOOL_NAME), "Another name for clients that allow no dots.", None),
        "annotations": Field(Free(), "Hints for MCP clients.", {}),
    }
)
GATE = Record(
    {
        "allowed_modes": Field(ListOf(_MODES, shortest=1), "Runtime modes in which the skill may run.", ["normal"]),
        "disallow_team_worker": Field(Flag(), "Keep team workers from calling it?", True),
    }
)

MANIFEST = Record(
    {
        "id": Field(
            Text("an id of 1 to 128 characters A-Z a-z 0-9 _ . -, the first a letter or digit", CAPABILITY_ID),
            "Stable over all updates.",
            required=True,
        ),
        "name": Field(Text("a name", longest=200), "For people; the id by default.", ""),
        "description": Field(Text("a description", empty=True), "Shown everywhere.", ""),
        "kind": Field(_KindRule(tuple(Kind)), "What it is.", required=True),
        "version": Field(
            Text("a semantic version such as 1.0.0, without build metadata", VERSION, 128, endings=(".0", ".0.0")),
            "Semantic, without build metadata.",
            required=True,
        ),
        "enabled": Field(Flag(), "Serve it?", True),
        "priority": Field(Integer(0, 100), "Among providers of one name the higher wins; ties by id.", 50),
        "capabilities": Field(
            ListOf(Text("a capability name: dotted segments of A-Z a-z 0-9 _ -", CAPABILITY_NAME, 200), folded=True),
            "The names under which it can be called.",
            [],
        ),
        "lua": Field(_LUA, "The code.", INVALID, required=True),
        "input_schema": Field(SCHEMA, "What callers may send.", required=True, missing=Fault.SCHEMA_MISSING),
        "output_schema": Field(SCHEMA, "What it may answer.", required=True, missing=Fault.SCHEMA_MISSING),
        "permissions": Field(PERMISSIONS, "What it may reach; absent is nothing."),
        "limits": Field(_LIMITS, "What a call may use."),
        "reload": Field(_RELOAD, "How it is replaced."),
        "audit": Field(
            Record(
                {
                    "log_input": Field(_AUDIT_LEVEL, "What of the input is written down.", "metadata_only"),
                    "log_output": Field(_AUDIT_LEVEL, "What of the answer is written down.", "metadata_only"),
                }
            ),
            "What the audit log keeps.",
        ),
        "isolation": Field(Choice(tuple(Isolation)), "Where it runs.", "auto"),
        "side_effects": Field(Choice(tuple(SideEffects)), "What a repeated call does.", "none"),
        "trust": Field(
            Record({"source": Field(Choice(tuple(TrustSource)), "May only lower what the place says.", "project")}),
            "Where it comes from.",
        ),
        "state": Field(
            Record(
                {
                    "schema_version": Field(Integer(), "Version of the durable state's form.", 1),
                    "migrations": Field(ListOf(_MIGRATION), "How old state becomes new.", []),
                },
                migrations_fit,
            ),
            "The durable state.",
        ),
        "integrity": Field(
            MapOf(re.compile(r"[^/\\~\x00-\x1f][^\\\x00-\x1f]{0,999}"), "a relative path", _SHA256),
            "SHA-256 digests of files, by path.",
            {},
        ),
        "mcp": Field(Nullable(_MCP), "The tool that MCP clients see; lua_mcp_handler only.", None),
        "runtime_gate": Field(Nullable(GATE), "When it may run; lua_skill only.", None),
        "expose_as_capability": Field(Flag(), "Callable by name as well; lua_mcp_handler only.", False),
    },
    belongs_to_kind,
)
