"""The stable codes ``EVA-2xx`` (manifest) and ``EVA-3xx`` (schemas)."""

from __future__ import annotations

from evatui.kernel.model.code import Code
from evatui.kernel.model.diagnostic import Reason

__all__ = ["MANIFEST_CODES"]

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
        "What is loaded lies in the workspace's own folders, and what a grant names below a root, links followed.",
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
        "EVA-216",
        Reason.DEPENDENCY_CYCLE,
        "capabilities call each other in a circle",
        "A circle has no order in which it could be loaded, and each of its calls could wait for itself.",
        "Take one of the names out of permissions.adapters.capabilities, or move what both need into a third.",
    ),
    Code(
        "EVA-217",
        Reason.DEPENDENCY_MISSING,
        "nobody provides a capability that is called",
        "Calls to it end as NotFound until somebody does.",
        "Correct the name, or add the capability that provides it.",
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
        "Refer to #/$defs/name, or to a file under schemas/ by its path from this one.",
    ),
    Code(
        "EVA-306",
        Reason.SCHEMA_INVALID,
        "the pattern is no regular expression of the linear-time kind",
        "Lookaround and backreferences can take exponential time on a hostile input.",
        "Correct it; without lookaround and backreferences, or as two patterns under allOf.",
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
        "a reference inside the schema leads nowhere, or in a circle",
        "A place that cannot be checked would let everything through.",
        "Correct the reference, or add the definition under $defs; one to itself needs a step into the value.",
    ),
    Code(
        "EVA-309",
        Reason.SCHEMA_INVALID,
        "no object can fit the input schema",
        "A payload is an object, so every call would be refused.",
        "Say type: object, and loosen what rules every object out.",
    ),
    Code(
        "EVA-310",
        Reason.SCHEMA_INVALID,
        "a keyword or a format that JSON Schema does not know",
        "What is not known is ignored by every validator, so a misspelt word checks nothing.",
        "Correct the word, or leave it if it is a note to yourself.",
    ),
)

MANIFEST_CODES: tuple[Code, ...] = _MANIFEST + _SCHEMAS
