"""From the bytes of a YAML file to its text, and what keeps a file from being read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.workspace.codes import reading_diagnostic
from evatui.kernel.workspace.lines import Lines

__all__ = ["YamlProblem", "decode"]

_BOM = "\ufeff"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What YAML forbids, and the line breaks that no editor shows: NEL, LS and PS would end a comment."""
_ODD_BREAK = re.compile("\r(?!\n)")
"""Among other line breaks; where it is the only kind, editors show it as one."""


class YamlProblem(Exception):
    """Everything that keeps a file from being read, at most 20 of them, each placed inside the file."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("; ".join(diagnostic.message for diagnostic in diagnostics))
        self.diagnostics = tuple(diagnostics)


def decode(data: bytes, file: str) -> str:
    """The text in ``data``, without a byte order mark. Raises `YamlProblem` for what no YAML file may hold."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        message = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
        span = Lines(before.removeprefix(_BOM)).end().span(file)
        raise YamlProblem([reading_diagnostic("EVA-102", message, span)]) from None
    text = text.removeprefix(_BOM)
    odd = _ODD_BREAK.search(text) if "\r" in text and "\n" in text else None
    if found := _FORBIDDEN.search(text) or odd:
        offset = len(data) - len(text[found.start() :].encode())
        message = f"the character U+{ord(found[0]):04X} at offset {offset} is not allowed"
        span = Lines(text).place(found.start(), found.end()).span(file)
        raise YamlProblem([reading_diagnostic("EVA-103", message, span)])
    return text
