"""What a manifest may say by the rules, but this version does not do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evatui.kernel.admission.report import Report

__all__ = ["check_supported"]


def check_supported(raw: Mapping[str, Any], report: Report) -> None:
    """Refuses what is valid but not done: a promise that nobody keeps must not look kept."""
    if raw["state"]["migrations"]:
        message = "state.migrations are not supported by this version"
        report.add("EVA-220", message, report.span(("state", "migrations"), key=True))
