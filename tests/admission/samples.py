"""Every manifest that the project brings, with the files that it names, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.admission.harness import MANIFEST, NOTES
from tests.admission.test_verdicts import CONFIG

__all__ = ["SAMPLES"]

_ROOT = Path(__file__).parents[2]


def _bundled() -> dict[str, str | bytes]:
    folders = (_ROOT / "capabilities", _ROOT / "schemas")
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(_ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}


def _samples() -> dict[str, tuple[Mapping[str, str | bytes], str]]:
    bundled = _bundled()
    own = {path: (bundled, path) for path in sorted(bundled) if path.count("/") == 1 and path.endswith(".yaml")}
    config = {path: (CONFIG, path) for path in CONFIG if path.startswith("config/capabilities/")}
    return {"notes": (NOTES, MANIFEST), **own, **config}


SAMPLES = _samples()
