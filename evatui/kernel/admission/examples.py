"""The example calls of a capability: what is sent, and what is expected to come back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.records import Field, MapOf, Record
from evatui.kernel.admission.render import render, render_all
from evatui.kernel.admission.report import EXAMPLE_FAULTS, Report
from evatui.kernel.admission.rules import Anything, Choice, Nullable, Text
from evatui.kernel.model.call import Response
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.document import Document
from evatui.kernel.workspace.files import FileProblem, SourceFile
from evatui.kernel.workspace.yaml import YamlProblem

__all__ = ["Example", "load_examples", "mismatch"]

_EXAMPLE = Record(
    {
        "name": Field(Text("a name", longest=200), "For people.", required=True),
        "payload": Field(Anything(), "What is sent.", {}),
        "user": Field(Nullable(Text("a user", longest=128)), "Who sends it.", None),
        "tags": Field(MapOf(re.compile(r"[^\x00-\x1f]{1,64}"), "a tag", Text("a value", longest=256)), "Tags.", {}),
        "expect": Field(
            Record(
                {
                    "result": Field(Anything(), "The whole result, to the last value.", None),
                    "error_kind": Field(Nullable(Choice(tuple(ErrorKind))), "The kind of the error.", None),
                }
            ),
            "What comes back; without it any good answer will do.",
        ),
    }
)
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Example:
    """``expected`` is ``{}``, ``{result}`` or ``{error_kind}``; ``span`` is where that stands, ``data`` the file."""

    path: str
    name: str
    payload: Any
    span: Span
    data: bytes
    user: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)


def load_examples(
    files: Sequence[SourceFile | FileProblem],
) -> tuple[tuple[Example, ...], tuple[Diagnostic, ...]]:
    """Those that can be read, and what is wrong with the others (rendered)."""
    examples: list[Example] = []
    found: list[Diagnostic] = []
    for file in files:
        if isinstance(file, FileProblem):
            message = f"the example cannot be read: {clean_line(file.detail)}"
            found.append(diagnose("EVA-601", message, Span(file.path)))
            continue
        try:
            report = Report(Document(file.data, file.path), EXAMPLE_FAULTS)
        except YamlProblem as problem:
            found += problem.diagnostics
            continue
        example = _read(file, report)
        found += report.found
        if not report.failed:
            examples.append(example)
    texts = {file.path: file.data for file in files if isinstance(file, SourceFile)}
    return tuple(examples), render_all(found, texts)


def _read(file: SourceFile, report: Report) -> Example:
    raw = _EXAMPLE.read(report.document.value, (), report)
    raw = raw if isinstance(raw, dict) else {}
    given = {key: raw["expect"][key] for key in ("result", "error_kind") if report.node(("expect", key)) is not None}
    if len(given) > 1:
        message = "expect wants either result or error_kind: a call has one of them"
        report.add("EVA-601", message, report.span(("expect",), key=True))
    return Example(
        path=file.path,
        name=raw.get("name", ""),
        payload=raw.get("payload"),
        span=report.span(("expect",), key=True) if given else report.span(("payload",), key=True),
        data=file.data,
        user=raw.get("user"),
        tags=raw.get("tags") or {},
        expected=given,
    )


def mismatch(example: Example, response: Response, *, level: Level) -> Diagnostic | None:
    """What is wrong with an answer, None where it is as expected (rendered)."""
    problem = _problem(example.expected, response)
    if not problem:
        return None
    message = f"example {example.name}: {problem}"
    return render(diagnose("EVA-602", message, example.span, level=level), {example.path: example.data})


def _problem(expected: Mapping[str, Any], response: Response) -> str:
    error = response.error
    if "error_kind" in expected:
        if error is None:
            return f"answered well, where {expected['error_kind']} is expected"
        return "" if error.kind == expected["error_kind"] else f"{_told(response)}, not {expected['error_kind']}"
    if error is not None:
        return f"{_told(response)}"
    if "result" not in expected or response.result == expected["result"]:
        return ""
    return _difference(expected["result"], response.result, "result")


def _told(response: Response) -> str:
    return f"ended in {response.error.kind}: {clean_line(response.error.message, _SHOWN)}" if response.error else ""


def _difference(wanted: Any, got: Any, at: str) -> str:
    """The first place where they differ."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key in sorted({*wanted, *got}):
            here = f"{at}.{clean_line(key, 60)}"
            if key not in got:
                return f"{here} is missing"
            if key not in wanted:
                return f"{here} is not expected"
            if wanted[key] != got[key]:
                return _difference(wanted[key], got[key], here)
    if isinstance(wanted, list) and isinstance(got, list):
        for index, (one, other) in enumerate(zip(wanted, got, strict=False)):
            if one != other:
                return _difference(one, other, f"{at}[{index}]")
        return f"{at} has {len(got)} items, not {len(wanted)}"
    return f"{at} is {clean_line(repr(got), _SHOWN)}, not {clean_line(repr(wanted), _SHOWN)}"
