"""The JSON Schemas of the files that people write, for editors and other programs."""

from __future__ import annotations

import json
from typing import Any

from evatui.control.bundle import bundled_workspace
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["SCHEMAS", "schema_list", "schema_text"]

SCHEMAS = {"manifest": "manifest", "adapter": "adapter", "policy": "policy", "eva.yaml": "workspace"}
"""Name to the middle of the file's name."""


def schema_text(name: str) -> str:
    """The document called ``name``; raises `CommandFailed` (``NotFound``)."""
    if name not in SCHEMAS:
        message = f"there is no schema {clean_line(name, 60)}; there are: {', '.join(SCHEMAS)}"
        raise CommandFailed(ErrorKind.NOT_FOUND, message, suggestion="eva schema print")
    path = bundled_workspace() / "schemas" / f"evatui.{SCHEMAS[name]}.schema.json"
    return path.read_text(encoding="utf-8")


def schema_list() -> list[dict[str, Any]]:
    """``{name, title}`` of each."""
    return [{"name": name, "title": json.loads(schema_text(name)).get("title", name)} for name in SCHEMAS]
