"""The format of a policy file as one table. Each entry also says how the values of several files become one.

Within a layer grants add up, ceilings take the minimum, switches and lists of what is allowed take the stricter
side. Between layers only what both allow stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from evatui.kernel.admission.entries import (
    COMMANDS,
    COMMANDS_EXAMPLE,
    CREDENTIAL,
    HOST,
    HOSTS_EXAMPLE,
    ID_GLOB,
    NAME_GLOB,
    FlagOr,
    Grant,
    GrantPath,
    Topic,
)
from evatui.kernel.admission.grants import covers_glob
from evatui.kernel.admission.records import Field, ListOf, MapOf, Record
from evatui.kernel.admission.report import Fault, Pointer, Report
from evatui.kernel.admission.rules import INVALID, Choice, Flag, Integer, Number, Text
from evatui.kernel.model.manifest import AuditLevel, Kind, TrustSource

__all__ = ["POLICY"]

_NAMES = ListOf(NAME_GLOB, star=True)
_IDS = ListOf(ID_GLOB, star=True)
_WORD = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}"
_NAME = re.compile(_WORD, re.ASCII)
_SHA256 = Text("a SHA-256 digest of 64 hexadecimal digits", re.compile(r"[0-9a-fA-F]{64}", re.ASCII))
_HEADER = Text("the name of an HTTP header", re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII))
_WIDENING = ("never", "console", "operator")
_LEVELS = tuple(AuditLevel)


def _both(mine: list[Any], theirs: list[Any]) -> list[Any]:
    return [entry for entry in mine if entry in theirs]


def _either(mine: list[Any], theirs: list[Any]) -> list[Any]:
    return mine + [entry for entry in theirs if entry not in mine]


def _merged(mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    return {**mine, **theirs}


def _common(mine: list[str], theirs: list[str]) -> list[str]:
    """The patterns for what patterns of both lists match."""
    inside = [name for name in mine if any(covers_glob(other, name) for other in theirs)]
    return inside + [name for name in theirs if name not in inside and any(covers_glob(own, name) for own in mine)]


def _narrowed(*by: str) -> Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]:
    """What is defined by either; of a name defined by both the first definition, and of ``by`` what both list."""

    def meet(mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
        both = {
            name: {**mine[name], **{key: _common(mine[name].get(key, []), theirs[name].get(key, [])) for key in by}}
            for name in mine.keys() & theirs.keys()
        }
        return {**theirs, **mine, **both}

    return meet


def _any(mine: bool, theirs: bool) -> bool:
    return mine or theirs


def _all(mine: bool, theirs: bool) -> bool:
    return mine and theirs


def _first_of(words: tuple[str, ...]) -> Callable[[str, str], str]:
    return lambda mine, theirs: min(mine, theirs, key=words.index)


class _Version(Integer):
    def read(self, value: Any, at: Pointer, report: Report) -> Any:
        version = Integer.read(self, value, at, report)
        if version is not INVALID and version != 1:
            report.fault(Fault.CHOICE, f"policy version {version} is not known; this version of evatui reads 1", at)
        return version

    def schema(self) -> dict[str, Any]:
        return {"const": 1}


def _matches_something(values: dict[str, Any], at: Pointer, report: Report) -> None:
    if report.value(at) == {}:
        message = 'an empty match says nothing; for every capability write match: {ids: ["*"]}'
        report.fault(Fault.MISSING, message, at)


_MATCH = Record(
    {
        "ids": Field(_IDS, "Ids, or patterns with *; absent is any.", INVALID),
        "kinds": Field(ListOf(Choice((*Kind, "*")), star=True), "Kinds; absent is any.", INVALID),
        "sources": Field(ListOf(Choice((*TrustSource, "*")), star=True), "Sources; absent is any.", INVALID),
    },
    _matches_something,
)
_GRANT = Record(
    {
        "match": Field(_MATCH, "Whom the grant is for.", INVALID, required=True),
        "names": Field(_NAMES, "Capability names that it may provide; absent is any free one.", INVALID),
        "fs": Field(
            Record(
                {
                    "read": Field(Grant(GrantPath()), "Roots or root/sub/paths.", []),
                    "write": Field(Grant(GrantPath()), "Roots or root/sub/paths.", []),
                }
            ),
            "Files.",
        ),
        "network": Field(
            FlagOr(
                Record({"hosts": Field(Grant(HOST), "Host names, or *.domain.", [])}),
                HOSTS_EXAMPLE,
                "list the hosts",
            ),
            "Network.",
            False,
        ),
        "shell": Field(
            FlagOr(
                Record({"commands": Field(COMMANDS, "Fixed argv prefixes.", [])}),
                COMMANDS_EXAMPLE,
                "list the commands",
            ),
            "Commands.",
            False,
        ),
        "env": Field(Grant(CREDENTIAL), "Names of credentials.", []),
        "adapters": Field(
            Record(
                {
                    "capabilities": Field(Grant(NAME_GLOB), "Capability names.", []),
                    "providers": Field(Grant(ID_GLOB), "Providers.", []),
                }
            ),
            "Other capabilities.",
        ),
        "events": Field(Record({"emit": Field(Grant(Topic()), "Topic patterns.", [])}), "Events."),
    }
)
_CREDENTIAL = Record(
    {
        "from": Field(Choice(("env",)), "Where the value is.", required=True),
        "hosts": Field(ListOf(HOST, star=True), "Hosts that it may be sent to.", []),
        "header": Field(_HEADER, "The header that carries it.", "Authorization"),
        "prefix": Field(Text("a prefix", empty=True, longest=100), "What stands before the value.", ""),
    }
)
_PRINCIPAL = Record(
    {
        "token_sha256": Field(_SHA256, "Digest of the bearer token.", required=True),
        "tools": Field(_NAMES, "Tools that this client may see.", []),
        "prompts": Field(_NAMES, "Prompts that this client may ask for.", []),
    }
)

_CEILINGS = Record(
    {
        "timeout_ms": Field(Integer(), "Highest limits.timeout_ms.", 120_000, pool=min),
        "memory_bytes": Field(Integer(), "Highest limits.memory_bytes.", 67_108_864, pool=min),
        "concurrency": Field(Integer(), "Highest limits.concurrency.", 16, pool=min),
        "max_input_bytes": Field(Integer(), "Highest limits.max_input_bytes.", 1_048_576, pool=min),
        "max_output_bytes": Field(Integer(), "Highest limits.max_output_bytes.", 1_048_576, pool=min),
        "priority": Field(Integer(0, 100), "Highest priority.", 100, pool=min),
    }
)
_DENY = Record(
    {
        "ids": Field(_IDS, "Ids, or patterns with *.", [], pool=_either),
        "capabilities": Field(_NAMES, "Capability names, or patterns with *.", [], pool=_either),
        "kinds": Field(ListOf(Choice((*Kind, "*")), star=True), "Kinds.", [], pool=_either),
    }
)
_AUDIT = Record(
    {
        "log_input": Field(Choice(_LEVELS), "The most that is written down.", "full", pool=_first_of(_LEVELS)),
        "log_output": Field(Choice(_LEVELS), "The most that is written down.", "full", pool=_first_of(_LEVELS)),
    }
)
_ROLLBACK = Record(
    {
        "window_s": Field(Integer(), "Seconds of calls that are counted.", 60, pool=max),
        "min_samples": Field(Integer(), "Calls before a verdict.", 20, pool=min),
        "max_error_rate": Field(Number(0, 1), "Faults among calls, at most.", 0.5, pool=min),
        "cooldown_s": Field(Integer(0), "Seconds without another rollback.", 300, pool=max),
    }
)
_SKILL_KINDS = ("workflow_skill", "lua_skill")
_SKILLS = Record(
    {
        "allow_kinds": Field(ListOf(Choice(_SKILL_KINDS)), "Kinds of skills.", list(_SKILL_KINDS), pool=_both),
        "require_schema": Field(Flag(), "Refuse skills without schemas?", True, pool=_any),
        "allow_user_local": Field(Flag(), "Make skills of the user's own layers available?", False, pool=_all),
    }
)
_PLUGINS = Record(
    {
        "require_signed": Field(Flag(), "Refuse unsigned plugins?", False, pool=_any),
        "keys": Field(
            ListOf(Text("a public key")), "Keys that signatures are checked with.", [], pool=_either, meet=_both
        ),
    }
)
_MCP_TOOLS = Record(
    {
        "allow": Field(_NAMES, "MCP handlers that clients may see, by tool name.", [], pool=_either, meet=_common),
        "deny": Field(_NAMES, "Those that they may not.", [], pool=_either),
    }
)
_MCP_SERVER = Record(
    {
        "tools": Field(_MCP_TOOLS, "MCP handlers."),
        "capabilities": Field(_NAMES, "Ordinary capabilities that clients may see.", [], pool=_either, meet=_common),
        "prompts": Field(_NAMES, "Prompts that clients may ask for.", [], pool=_either, meet=_common),
        "principals": Field(
            MapOf(_NAME, "the name of a client", _PRINCIPAL),
            "Clients.",
            {},
            pool=_merged,
            meet=_narrowed("tools", "prompts"),
        ),
    }
)
_HARDWARE = Record(
    {
        "enabled": Field(Flag(), "Look for devices?", True, pool=_all),
        "allowed_buses": Field(
            ListOf(Text("the name of a bus", _NAME)), "Buses.", ["serial", "hid", "sim"], pool=_both
        ),
        "denied_capabilities": Field(_NAMES, "Never granted.", ["hardware.raw.write"], pool=_either),
        "quarantine_unknown_devices": Field(Flag(), "Hold back unknown devices?", True, pool=_any),
        "simulators": Field(Flag(), "Offer simulated devices?", True, pool=_all),
    }
)

POLICY = Record(
    {
        "version": Field(_Version(), "Version of this format.", 1, pool=min),
        "ceilings": Field(_CEILINGS, "The most that a manifest may ask for."),
        "trusted_sources": Field(
            ListOf(Choice(tuple(TrustSource))), "What may run in the process.", ["project"], pool=_both
        ),
        "isolation": Field(
            Record({"require_os_sandbox": Field(Flag(), "Refuse others without an OS sandbox?", True, pool=_any)}),
            "What runs outside the process.",
        ),
        "grants": Field(ListOf(_GRANT), "Who gets what.", [], pool=_either),
        "deny": Field(_DENY, "Beats every grant."),
        "credentials": Field(
            MapOf(re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII), "the name of a credential", _CREDENTIAL),
            "Values that the kernel may inject.",
            {},
            pool=_merged,
            meet=_narrowed("hosts"),
        ),
        "audit": Field(_AUDIT, "The most that the audit log keeps of a call."),
        "approvals": Field(
            Record({"widening": Field(Choice(_WIDENING), "Who may approve.", "operator", pool=_first_of(_WIDENING))}),
            "Approvals.",
        ),
        "rollback": Field(_ROLLBACK, "When a new version is taken back."),
        "skills": Field(_SKILLS, "Skills."),
        "plugins": Field(_PLUGINS, "Plugins."),
        "mcp_server": Field(_MCP_SERVER, "What MCP clients may see."),
        "hardware": Field(_HARDWARE, "Devices."),
    }
)
