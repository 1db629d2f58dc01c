"""The terminal that ``eva`` runs in, as far as the console will depend on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from evatui.control.doctor.check import Check
from evatui.kernel.model.text import clean_line

__all__ = ["check_terminal", "terminal"]

_COLUMNS, _ROWS = 80, 24
_TMUX_S = 2.0
_ESCAPE_MS = 100
_NO_CLIPBOARD = ("linux", "dumb", "vt100", "")
"""Terminals that do not know OSC 52."""


def terminal(environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """``{attached, term, colors, columns, rows, encoding, tmux, osc52}``; ``tmux`` is null outside of it.

    ``osc52`` is what is to be expected: ``yes``, ``no``, or ``unknown``: a terminal cannot be asked.
    """
    attached = sys.stdout.isatty()
    size = shutil.get_terminal_size((0, 0))
    tmux = _tmux() if environment.get("TMUX") else None
    term = clean_line(environment.get("TERM", ""), 64)
    return {
        "attached": attached,
        "term": term or None,
        "colors": Console().color_system if attached else None,
        "columns": size.columns if attached else None,
        "rows": size.lines if attached else None,
        "encoding": (sys.stdout.encoding or "").lower() or None,
        "tmux": tmux,
        "osc52": _osc52(term, tmux, environment),
    }


def _osc52(term: str, tmux: Mapping[str, Any] | None, environment: Mapping[str, str]) -> str:
    if tmux is not None:
        return {"off": "no", "on": "yes", "external": "yes"}.get(tmux["set_clipboard"] or "", "unknown")
    if term in _NO_CLIPBOARD:
        return "no"
    known = ("kitty", "ghostty", "alacritty", "foot", "wezterm")
    named = f"{term} {environment.get('TERM_PROGRAM', '')}".casefold()
    return "yes" if any(name in named for name in known) else "unknown"


def _tmux() -> dict[str, Any]:
    return {"set_clipboard": _option("set-clipboard"), "escape_time_ms": _whole(_option("escape-time"))}


def _option(name: str) -> str | None:
    try:
        done = subprocess.run(
            ["tmux", "show-options", "-sv", name], capture_output=True, text=True, timeout=_TMUX_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return clean_line(done.stdout.strip(), 40) if done.returncode == 0 else None


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def check_terminal(found: Mapping[str, Any]) -> list[Check]:
    if not found["attached"]:
        return [Check("terminal", True, "none: the output goes elsewhere")]
    checks = [_size(found), _signs(found), _colors(found), _clipboard(found)]
    tmux = found["tmux"]
    if tmux is not None and (tmux["escape_time_ms"] or 0) > _ESCAPE_MS:
        detail = f"tmux waits {tmux['escape_time_ms']} ms after each escape"
        checks.append(Check("escape key", False, detail, "tmux set -s escape-time 10, and the same in tmux.conf"))
    return checks


def _size(found: Mapping[str, Any]) -> Check:
    enough = found["columns"] >= _COLUMNS and found["rows"] >= _ROWS
    fix = "" if enough else f"Make it at least {_COLUMNS}x{_ROWS}."
    return Check("terminal size", enough, f"{found['columns']}x{found['rows']}", fix)


def _signs(found: Mapping[str, Any]) -> Check:
    utf8 = found["encoding"] in ("utf-8", "utf8")
    fix = "" if utf8 else "Set LANG to one with UTF-8 (LANG=C.UTF-8), or start evatui with --ascii."
    return Check("terminal signs", utf8, str(found["encoding"] or "no encoding"), fix)


def _colors(found: Mapping[str, Any]) -> Check:
    term = found["term"]
    usable = term not in (None, "dumb")
    fix = "" if usable else "Set TERM to what the terminal is, such as xterm-256color."
    return Check("terminal type", usable, f"TERM={term or 'is not set'}, colours: {found['colors'] or 'none'}", fix)


def _clipboard(found: Mapping[str, Any]) -> Check:
    expected = found["osc52"]
    told = {
        "yes": "C copies to the clipboard (OSC 52)",
        "no": "no OSC 52 here",
        "unknown": "OSC 52 may work: the terminal cannot be asked",
    }
    off = found["tmux"] is not None and expected == "no"
    fix = "tmux set -s set-clipboard on, and the same in tmux.conf" if off else ""
    return Check("clipboard", not off, told[expected], fix)
