"""Every diagnostic code: what it says, which rule stands behind it, and what to do (``eva explain``)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evatui.kernel.model.diagnostic import Diagnostic, Level, Reason, Span
from evatui.kernel.workspace.codes import READING_CODES, ReadingCode

__all__ = ["CODES", "Code", "diagnose", "explain"]

Code = ReadingCode
"""``code, reason, title, why, fix``: one shape for every family."""

_MANIFEST = (
    Code(
        "EVA-201",
        Reason.MANIFEST_INVALID,
        "the manifest is no mapping of keys to values",
        "A capability exists only through a manifest that declares it.",
        "Start from a scaffold: eva capability new lua_tool my-tool",
    ),
    Code(
        "EVA-202",
        Reason.MANIFEST_INVALID,
        "a required key is missing",
        "What a capability is, what it runs and what it takes must be declared, never guessed.",
        "Add the key.",
    ),
    Code(
        "EVA-203",
        Reason.MANIFEST_INVALID,
        "a value has the wrong type",
        "A value of another type would have to be reinterpreted, and a limit or a permission with it.",
        "Write a value of the type that the key wants.",
    ),
    Code(
        "EVA-204",
        Reason.MANIFEST_INVALID,
        "unknown key",
        "A misspelt limit or permission would be ignored silently and leave its default in force.",
        "Correct the key or remove it.",
    ),
    Code(
        "EVA-205",
        Reason.MANIFEST_INVALID,
        "a number or a boolean where text is wanted",
        "YAML would change it: 012 becomes 12 and 1.10 becomes 1.1.",
        "Put the value in quotes.",
    ),
    Code(
        "EVA-206",
        Reason.MANIFEST_INVALID,
        "text where a number or a boolean is wanted",
        "Text is never turned into a limit or a switch by guessing.",
        "Remove the quotes.",
    ),
    Code(
        "EVA-207",
        Reason.MANIFEST_INVALID,
        "a value is out of range or has the wrong form",
        "Values outside their range would switch a limit off or break a name that others rely on.",
        "Write a value of the form that the message names.",
    ),
    Code(
        "EVA-208",
        Reason.MANIFEST_INVALID,
        "a value is not one of those allowed",
        "An unknown word would have to be guessed at.",
        "Choose one of the words that the message lists.",
    ),
    Code(
        "EVA-209",
        Reason.MANIFEST_INVALID,
        "a key does not belong to this kind of capability",
        "A key that has no effect promises something that does not happen.",
        "Remove the key or change the kind.",
    ),
    Code(
        "EVA-210",
        Reason.PATH_NOT_ALLOWED,
        "a path leaves the folders that it may point into",
        "Scripts, modules and schemas are loaded only from the workspace's own folders, links followed.",
        "Move the file under an allowed folder, or add the folder to layout in eva.yaml.",
    ),
    Code(
        "EVA-211",
        Reason.MANIFEST_INVALID,
        "an item is given twice",
        "The second one adds nothing, so one of them is probably meant to be another.",
        "Remove one of the two.",
    ),
    Code(
        "EVA-212",
        Reason.RUNTIME_WORKER,
        "a runtime worker is never a capability",
        "Team, swarm and ralph workers belong to the runtime; callers must not reach them as tools.",
        "Use lua_skill for a workflow that callers may run.",
    ),
    Code(
        "EVA-213",
        Reason.RUNTIME_GATE_MISMATCH,
        "the runtime gate excludes the runtime's mode",
        "A skill runs only in the modes that it names.",
        "Add the mode to runtime_gate.allowed_modes, or change runtime.mode in eva.yaml.",
    ),
    Code(
        "EVA-214",
        Reason.INTEGRITY_MISMATCH,
        "a file is not the one that the manifest names",
        "The digests are there so that a half-copied set of files is detected and not served.",
        "Copy the files again, or write the new digest.",
    ),
    Code(
        "EVA-215",
        Reason.DUPLICATE_ID,
        "two manifests have one id",
        "Neither may replace the other silently; the active one stays.",
        "Give one of them another id, or remove it.",
    ),
    Code(
        "EVA-220",
        Reason.MANIFEST_INVALID,
        "not supported by this version",
        "What is declared but not done would be a promise that nobody keeps.",
        "Remove the block until a version of evatui supports it.",
    ),
    Code(
        "EVA-221",
        Reason.ISOLATION_UNAVAILABLE,
        "process isolation is not supported by this version",
        "A capability that asks for a process of its own is never run without one.",
        "Use isolation: auto for a source that the policy trusts.",
    ),
)

_SCHEMAS = (
    Code(
        "EVA-301",
        Reason.SCHEMA_MISSING,
        "a required schema is missing",
        "Without a schema nothing checks what callers send and what the handler answers.",
        "Add the key: a path under schemas/, or an inline object.",
    ),
    Code(
        "EVA-302",
        Reason.FILE_MISSING,
        "the schema file cannot be read",
        "Without a schema nothing checks what callers send and what the handler answers.",
        "Create the file or correct the path.",
    ),
    Code(
        "EVA-303",
        Reason.SCHEMA_INVALID,
        "the schema is no JSON object",
        "A schema that is understood only in part would let everything else through.",
        "Repair the marked place; JSON has no comments, no trailing commas and no single quotes.",
    ),
    Code(
        "EVA-304",
        Reason.SCHEMA_INVALID,
        "the schema breaks the rules of JSON Schema",
        "A keyword with a wrong value checks nothing.",
        "Correct the keyword's value.",
    ),
    Code(
        "EVA-305",
        Reason.SCHEMA_INVALID,
        "the schema refers to something outside itself",
        "A schema never makes the runtime open a file or a connection.",
        "Copy the part into $defs and refer to it as #/$defs/name.",
    ),
    Code(
        "EVA-306",
        Reason.SCHEMA_INVALID,
        "the pattern is not a linear-time regular expression",
        "Lookaround and backreferences can take exponential time on a hostile input.",
        "Write it without lookaround and backreferences, or as two patterns under allOf.",
    ),
    Code(
        "EVA-307",
        Reason.SCHEMA_INVALID,
        "the schema is too large",
        "Bounds keep a hostile schema from exhausting the host.",
        "Make it smaller or flatter.",
    ),
    Code(
        "EVA-308",
        Reason.SCHEMA_INVALID,
        "a reference inside the schema leads nowhere",
        "A place that cannot be checked would let everything through.",
        "Correct the reference or add the definition under $defs.",
    ),
    Code(
        "EVA-310",
        Reason.SCHEMA_INVALID,
        "a keyword that JSON Schema does not know",
        "Unknown keywords are ignored by every validator, so a misspelt one checks nothing.",
        "Correct the keyword, or leave it if it is a note to yourself.",
    ),
)

_POLICY = (
    Code(
        "EVA-401",
        Reason.POLICY_DENIED,
        "the policy file cannot be read",
        "A policy that is understood only in part could grant what its author took away.",
        "Repair the file; until then the last valid policy stays in force, or nothing is granted.",
    ),
    Code(
        "EVA-402",
        Reason.POLICY_DENIED,
        "unknown key in the policy",
        "A misspelt rule would be ignored silently, and what it should refuse would be allowed.",
        "Correct the key or remove it; until then the last valid policy stays in force, or nothing is granted.",
    ),
    Code(
        "EVA-403",
        Reason.POLICY_DENIED,
        "a value in the policy does not fit",
        "A rule that has to be guessed at protects nothing.",
        "Correct the value; until then the last valid policy stays in force, or nothing is granted.",
    ),
    Code(
        "EVA-404",
        Reason.POLICY_DENIED,
        "two policy files contradict each other",
        "Neither may override the other silently.",
        "Keep the entry in one file.",
    ),
    Code(
        "EVA-410",
        Reason.POLICY_DENIED,
        "the manifest asks for more than the policy grants",
        "A capability reaches only what the policy grants; a request for more is refused, never trimmed.",
        "Remove the entry, or grant it under grants in a policy file.",
    ),
    Code(
        "EVA-411",
        Reason.POLICY_DENIED,
        "a value is above the policy's ceiling",
        "Ceilings keep one capability from taking the host from all others.",
        "Lower the value, or raise the ceiling in the policy.",
    ),
    Code(
        "EVA-412",
        Reason.POLICY_DENIED,
        "the policy does not let this capability provide the name",
        "A name is a promise to callers, so the policy says who may answer to it.",
        "Use a name that the grant covers, or add the name to its names.",
    ),
    Code(
        "EVA-413",
        Reason.POLICY_DENIED,
        "the policy denies this capability",
        "Deny beats every grant.",
        "Remove the entry under deny if the capability is wanted.",
    ),
    Code(
        "EVA-414",
        Reason.POLICY_DENIED,
        "the policy does not trust this source inside the process",
        "Only what the policy trusts runs in the process of the runtime.",
        "Use isolation: auto, or add the source to trusted_sources.",
    ),
    Code(
        "EVA-415",
        Reason.TRUST_UNKNOWN,
        "the source of this capability is unknown",
        "Code of unknown origin never runs in the process of the runtime.",
        "Find out where it comes from, then say so under trust.source.",
    ),
    Code(
        "EVA-416",
        Reason.ISOLATION_UNAVAILABLE,
        "this source needs a process of its own, which this version does not offer",
        "What the policy does not trust is never run in the process of the runtime.",
        "Add the source to trusted_sources if you trust it.",
    ),
    Code(
        "EVA-417",
        Reason.POLICY_DENIED,
        "shell: true asks for every command",
        "A fixed list of command prefixes can be reviewed, a shell cannot.",
        "List the commands: shell: {commands: [[git, status]]}",
    ),
)

_LUA = (
    Code(
        "EVA-501",
        Reason.FILE_MISSING,
        "the script or module cannot be read",
        "There is nothing to run without it.",
        "Create the file or correct the path.",
    ),
    Code(
        "EVA-502",
        Reason.LUA_LOAD_FAILED,
        "the Lua code does not load",
        "A version that does not load never serves; the one before stays.",
        "Repair the marked line.",
    ),
    Code(
        "EVA-503",
        Reason.HEALTH_FAILED,
        "the health check failed",
        "A version that says it is not well never serves; the one before stays.",
        "Repair what the health check reports.",
    ),
)

CODES: Mapping[str, Code] = MappingProxyType(
    dict(READING_CODES) | {entry.code: entry for entry in _MANIFEST + _SCHEMAS + _POLICY + _LUA}
)


def explain(code: str) -> Code | None:
    """The entry of ``EVA-204``, ``eva-204`` or ``204``; None for a code that does not exist."""
    number = code.strip().upper().removeprefix("EVA-")
    return CODES.get(f"EVA-{number}")


def diagnose(
    code: str,
    message: str,
    *spans: Span,
    notes: tuple[str, ...] = (),
    fix: str | None = None,
    level: Level = Level.ERROR,
) -> Diagnostic:
    """A `Diagnostic` with the reason, the why and (unless given) the fix that belong to ``code``."""
    entry = CODES[code]
    return Diagnostic(
        code=entry.code,
        reason=entry.reason,
        message=message,
        spans=spans,
        notes=notes,
        help=entry.why,
        fix=entry.fix if fix is None else fix,
        level=level,
    )
