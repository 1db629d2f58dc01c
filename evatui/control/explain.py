"""What a diagnostic code means."""

from __future__ import annotations

from typing import Any

from evatui.control.failing import CommandFailed
from evatui.kernel.admission.codes import CODES, explain
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["explain_code"]


def explain_code(code: str) -> dict[str, Any]:
    """``{code, reason, title, why, fix}`` of ``EVA-204`` or ``204``; raises `CommandFailed` (``NotFound``)."""
    found = explain(code)
    if found is None:
        raise _no_code(code)
    return {
        "code": found.code,
        "reason": found.reason.value,
        "title": found.title,
        "why": found.why,
        "fix": found.fix,
    }


def _no_code(code: str) -> CommandFailed:
    """A reason is no code: several have it, and each says more than it does."""
    reason = code.strip().lower().replace("-", "_")
    having = [one for one in CODES.values() if one.reason.value == reason]
    if not having:
        suggestion = "eva capability explain-rejected  names the codes that matter here"
        return CommandFailed(ErrorKind.NOT_FOUND, f"there is no code {clean_line(code, 40)}", suggestion=suggestion)
    listed = "\n".join(f"  {one.code}  {one.title}" for one in having)
    return CommandFailed(
        ErrorKind.NOT_FOUND,
        f"{reason} is a reason, and no code; these codes have it:\n{listed}",
        suggestion=f"eva explain {having[0].code}",
        context={"codes": [one.code for one in having]},
    )
