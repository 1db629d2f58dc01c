"""From a picture of the console to one in dots, by what the machine has for that."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["to_png"]

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_WAIT_S = 60


def to_png(picture: Path) -> Path | None:
    """Writes a PNG beside the SVG ``picture``; None where no program for it is there, or it fails. Blocking."""
    target = picture.with_suffix(".png")
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is not None:
        found = _SIZE.search(picture.read_text(encoding="utf-8"))
        width, height = (round(float(side)) for side in found.groups()) if found else (1480, 920)
        shot = f"--screenshot={target}", f"--window-size={width},{height}", "--hide-scrollbars", "--disable-gpu"
        return _made(target, browser, "--headless", "--no-sandbox", *shot, picture.resolve().as_uri())
    converter = shutil.which("rsvg-convert")
    if converter is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        # Without this, runs of spaces come out as one.
        kept = Path(folder, picture.name)
        text = picture.read_text(encoding="utf-8").replace("<text ", '<text xml:space="preserve" ')
        kept.write_text(text, encoding="utf-8")
        return _made(target, converter, "--output", str(target), str(kept))


def _made(target: Path, *words: str) -> Path | None:
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_WAIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return target if done.returncode == 0 and target.is_file() else None
