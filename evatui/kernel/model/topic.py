"""Topics: ``/seg/seg``, where no segment is ``.`` or ``..``; in a pattern ``*`` is one segment and a last ``**`` is
zero or more."""

from __future__ import annotations

import re

__all__ = ["KERNEL_ROOTS", "covers_pattern", "is_kernel_topic", "is_topic", "is_topic_pattern", "topic_matches"]

_SEGMENT = r"(?!\.\.?(?:/|\Z))[A-Za-z0-9_.-]{1,64}"
_TOPIC = re.compile(rf"(?:/{_SEGMENT}){{1,16}}", re.ASCII)
_PATTERN = re.compile(rf"(?:/(?:{_SEGMENT}|\*)){{0,15}}/(?:{_SEGMENT}|\*\*?)", re.ASCII)

KERNEL_ROOTS = frozenset({"capability", "hardware", "adapter", "mcp", "skill", "plugin", "audit", "runtime"})
"""First segments that only the kernel may emit to."""


def is_topic(text: str) -> bool:
    return _TOPIC.fullmatch(text) is not None


def is_topic_pattern(text: str) -> bool:
    return _PATTERN.fullmatch(text) is not None


def is_kernel_topic(topic: str) -> bool:
    """Compared case-folded, so that ``/Capability/loaded`` cannot pass for a kernel event either."""
    return topic.split("/")[1].casefold() in KERNEL_ROOTS


def topic_matches(pattern: str, topic: str) -> bool:
    return covers_pattern(pattern, topic)


def covers_pattern(pattern: str, narrower: str) -> bool:
    """Is every topic of ``narrower`` (a topic, or a pattern) also one of ``pattern``?"""
    wide, narrow = pattern.split("/")[1:], narrower.split("/")[1:]
    for index, segment in enumerate(wide):
        if segment == "**":
            return True
        if index >= len(narrow) or narrow[index] == "**":
            return False
        if segment != "*" and segment != narrow[index]:
            return False
    return len(wide) == len(narrow)
