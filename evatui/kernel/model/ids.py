"""Identifiers and their grammars."""

from __future__ import annotations

import datetime as dt
import os
import random
import re
import unicodedata

__all__ = ["CAPABILITY_ID", "CAPABILITY_NAME", "VERSION", "fold", "fold_words", "generation_id", "new_id"]

CAPABILITY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", re.ASCII)
CAPABILITY_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", re.ASCII)
_NUMBER = r"(?:0|[1-9][0-9]*)"
_PRERELEASE = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PRERELEASE}(?:\.{_PRERELEASE})*)?", re.ASCII)
"""Semantic version 2.0.0 without build metadata: the build part is the generation's own."""

_BETWEEN_WORDS = re.compile(r"[.\-_]+")
_RANDOM = random.Random(os.urandom(32))
"""Seeded once: asking the system each time lets go of the GIL, and then waits for its turn again."""


def generation_id(capability_id: str, version: str, day: dt.date, number: int) -> str:
    """``<id>@<version>+build.<UTC yyyymmdd>.<nnn>``; ``number`` counts per id and day, from 1."""
    return f"{capability_id}@{version}+build.{day:%Y%m%d}.{number:03d}"


def new_id(prefix: str) -> str:
    """A fresh identifier such as ``req_3f…``: 96 random bits, no meaning, never reused, no secret."""
    return f"{prefix}_{_RANDOM.getrandbits(96):024x}"


def fold(name: str) -> str:
    """The form in which two names are compared: NFC and case-folded."""
    if name.isascii():
        return name.lower()  # the same, many times faster; most names are
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def fold_words(name: str) -> str:
    """The same where what stands between words makes no difference either: ``Repo.Summary`` is ``repo_summary``."""
    return _BETWEEN_WORDS.sub("_", fold(name)).strip("_")
