"""What a diagnostic code means."""

from __future__ import annotations

from typing import Any

from evatui.control.operator import CommandFailed
from evatui.kernel.admission.codes import explain
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["explain_code"]


def explain_code(code: str) -> dict[str, Any]:
    """``{code, reason, title, why, fix}`` of ``EVA-204`` or ``204``; raises `CommandFailed` (``NotFound``)."""
    found = explain(code)
    if found is None:
        raise CommandFailed(
            ErrorKind.NOT_FOUND,
            f"there is no code {clean_line(code, 40)}",
            suggestion="eva capability explain-rejected  names the codes that matter here",
        )
    return {
        "code": found.code,
        "reason": found.reason.value,
        "title": found.title,
        "why": found.why,
        "fix": found.fix,
    }
