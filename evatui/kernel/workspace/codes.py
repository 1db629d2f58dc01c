"""The stable codes ``EVA-1xx``: what can be wrong before anything on disk has a meaning."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from evatui.kernel.model.code import Code
from evatui.kernel.model.diagnostic import Diagnostic, Reason, Span

__all__ = ["READING_CODES", "reading_diagnostic"]


_ENTRIES = (
    Code(
        "EVA-101",
        Reason.YAML_INVALID,
        "the YAML cannot be parsed",
        "A file that is understood only in part could be served with half of its limits.",
        "Repair the marked place; look for an unclosed quote or bracket, a tab, or a wrong indent.",
    ),
    Code(
        "EVA-102",
        Reason.YAML_INVALID,
        "the file is not UTF-8",
        "Bytes that are guessed at mean different things on different machines.",
        "Save the file as UTF-8.",
    ),
    Code(
        "EVA-103",
        Reason.YAML_INVALID,
        "the file holds a character that is not allowed",
        "Control characters, and line breaks unlike the file's others, can hide a line that the parser reads.",
        "Delete the character or write it as an escape inside double quotes; use one kind of line break.",
    ),
    Code(
        "EVA-104",
        Reason.YAML_INVALID,
        "a key is given twice",
        "The last one would win silently, and the first might be the one that restricts.",
        "Keep one of the two.",
    ),
    Code(
        "EVA-105",
        Reason.YAML_INVALID,
        "anchors and aliases are not allowed",
        "A few lines of aliases can stand for millions of values, and what applies where is hard to review.",
        "Write the value out where it is used; put it in quotes if text is meant.",
    ),
    Code(
        "EVA-106",
        Reason.YAML_INVALID,
        "tags are not allowed",
        "A tag asks the reader to build something other than what is written.",
        "Remove the tag; put the value in quotes if text is meant.",
    ),
    Code(
        "EVA-107",
        Reason.YAML_INVALID,
        "a key must be text",
        "A key that is a number, a boolean or a collection has no name that a rule could look up.",
        "Put the key in quotes.",
    ),
    Code(
        "EVA-108",
        Reason.YAML_INVALID,
        "the YAML is nested too deeply or holds too many values",
        "Bounds keep a hostile file from exhausting the host.",
        "Make it flatter or split it.",
    ),
    Code(
        "EVA-109",
        Reason.YAML_INVALID,
        "a file holds one document",
        "A second document would be ignored silently.",
        "Move what follows '---' into a file of its own.",
    ),
    Code(
        "EVA-110",
        Reason.YAML_INVALID,
        "the number cannot be represented",
        "Only finite numbers, and whole numbers of at most 64 bits, keep their value on the way to Lua and JSON.",
        "Write a smaller number, or put it in quotes if text is meant.",
    ),
    Code(
        "EVA-111",
        Reason.YAML_INVALID,
        "the file is too large",
        "Bounds keep a hostile file from exhausting the host.",
        "Split the file or move data out of it.",
    ),
    Code(
        "EVA-112",
        Reason.FILE_MISSING,
        "the file cannot be read",
        "What cannot be read cannot be checked.",
        "Give the user that runs evatui the right to read it.",
    ),
    Code(
        "EVA-113",
        Reason.FILE_MISSING,
        "the file is missing or is no regular file",
        "Folders, pipes and devices have no content that could be checked.",
        "Put a regular file there.",
    ),
    Code(
        "EVA-114",
        Reason.PATH_NOT_ALLOWED,
        "the file lies outside the allowed folders",
        "A link or a path that leaves the workspace would load what nobody reviewed there.",
        "Move the file into the workspace.",
    ),
    Code(
        "EVA-115",
        Reason.YAML_INVALID,
        "the file keeps changing while it is read",
        "A half-written file must not be taken for a version.",
        "Wait until the program that writes it has finished; it is read again at its next change.",
    ),
    Code(
        "EVA-116",
        Reason.FILE_MISSING,
        "a folder cannot be searched",
        "Whatever lies in it is unknown, so nothing from it is served.",
        "Give the user that runs evatui the right to read the folder.",
    ),
    Code(
        "EVA-117",
        Reason.MANIFEST_INVALID,
        "the folders hold too much",
        "Bounds keep a scan from running for ever; what lies beyond them is not read.",
        "Move capabilities nearer to the top, or take files away.",
    ),
    Code(
        "EVA-118",
        Reason.MANIFEST_INVALID,
        "a manifest names too many files",
        "Bounds keep a hostile manifest from exhausting the host.",
        "Put several modules into one file, or split the capability.",
    ),
    Code(
        "EVA-119",
        Reason.FILE_MISSING,
        "the state of the running runtime was touched",
        "The lock keeps a second runtime out, and the state database outlives this one: both belong to the runtime.",
        "Leave the state folder alone while a runtime holds the workspace; after a restart this is gone.",
    ),
    Code(
        "EVA-120",
        Reason.FILE_MISSING,
        "there is no workspace",
        "Everything that is served is read from the workspace folder.",
        "Name an existing folder with --workspace, or make one with: eva init DIR",
    ),
    Code(
        "EVA-121",
        Reason.MANIFEST_INVALID,
        "eva.yaml has an unknown key",
        "A misspelt setting would leave its default in force, unseen.",
        "Correct the key or remove it.",
    ),
    Code(
        "EVA-122",
        Reason.MANIFEST_INVALID,
        "eva.yaml has a value that does not fit",
        "A setting that is guessed at would hold other limits than the ones written down.",
        "Correct the value, or remove the line to get the default.",
    ),
    Code(
        "EVA-123",
        Reason.PATH_NOT_ALLOWED,
        "the name of a file cannot be shown",
        "A name with control characters, or that is not UTF-8, cannot be told apart from another one on a screen.",
        "Rename the file; `ls -b` shows its name with escapes.",
    ),
    Code(
        "EVA-124",
        Reason.MANIFEST_INVALID,
        "two names differ only in case",
        "On a machine that does not tell case apart they are one file, and one of the two is lost without a word.",
        "Rename one of them.",
    ),
)

READING_CODES: Mapping[str, Code] = MappingProxyType({entry.code: entry for entry in _ENTRIES})


def reading_diagnostic(code: str, message: str, *spans: Span, **more: Any) -> Diagnostic:
    """What `Code.found` makes of ``code``."""
    return READING_CODES[code].found(message, *spans, **more)
