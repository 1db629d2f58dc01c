"""What the end of a hook means: 0 allows, 1 denies, 2 changes the arguments; any other is a failure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from evatui.kernel.model.text import clean_line

__all__ = ["Meaning", "Verdict", "failed", "verdict"]

_REASON: Final = 500


class Meaning(StrEnum):
    ALLOWED = "allowed"
    DENIED = "denied"
    MODIFIED = "modified"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``why`` it denies or failed; ``arguments`` in place of the old ones, where it is MODIFIED."""

    meaning: Meaning
    why: str = ""
    arguments: Any = None


def failed(why: str) -> Verdict:
    return Verdict(Meaning.FAILED, clean_line(why, _REASON))


def verdict(event: str, code: int, stdout: bytes, stderr: bytes) -> Verdict:
    """Only what comes before something can deny it, and only arguments can be changed."""
    if code == 0:
        return Verdict(Meaning.ALLOWED)
    if code == 1 and event.startswith("before_"):
        return Verdict(Meaning.DENIED, _said(stdout) or "it gives no reason")
    if code == 2 and event == "before_tool_call":
        return _modified(stdout)
    told = _said(stderr)
    return failed(f"it ended with the status {code}{': ' if told else ''}{told}")


def _modified(stdout: bytes) -> Verdict:
    try:
        arguments = json.loads(stdout)
    except (ValueError, RecursionError):
        return failed("it ended with the status 2, and printed no JSON to take the place of the arguments")
    if not isinstance(arguments, dict):
        return failed("it ended with the status 2, and printed no object to take the place of the arguments")
    return Verdict(Meaning.MODIFIED, arguments=arguments)


def _said(output: bytes) -> str:
    lines = [line for line in output.decode(errors="replace").splitlines() if line.strip()]
    return clean_line(" ".join(line.strip() for line in lines[-3:]), _REASON)
