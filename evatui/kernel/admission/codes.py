"""Every diagnostic code: what it says, which rule stands behind it, and what to do (``eva explain``)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from evatui.kernel.admission.adapter_codes import ADAPTER_CODES
from evatui.kernel.admission.example_codes import EXAMPLE_CODES
from evatui.kernel.admission.manifest_codes import MANIFEST_CODES
from evatui.kernel.admission.mcp_codes import MCP_CODES
from evatui.kernel.admission.plugin_codes import PLUGIN_CODES
from evatui.kernel.admission.policy_codes import POLICY_CODES
from evatui.kernel.admission.skill_codes import SKILL_CODES
from evatui.kernel.model.code import Code
from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.workspace.codes import READING_CODES

__all__ = ["CODES", "diagnose", "explain"]

_OF_ADMISSION = MANIFEST_CODES + POLICY_CODES + ADAPTER_CODES + MCP_CODES + SKILL_CODES + PLUGIN_CODES + EXAMPLE_CODES

CODES: Mapping[str, Code] = MappingProxyType({**READING_CODES, **{entry.code: entry for entry in _OF_ADMISSION}})


def explain(code: str) -> Code | None:
    """The entry of ``EVA-204``, ``eva-204`` or ``204``; None for a code that does not exist."""
    number = code.strip().upper().removeprefix("EVA-")
    return CODES.get(f"EVA-{number}")


def diagnose(code: str, message: str, *spans: Span, **more: Any) -> Diagnostic:
    """What `Code.found` makes of ``code``."""
    return CODES[code].found(message, *spans, **more)
