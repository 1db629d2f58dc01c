"""``docs/errors.md``, made from the table of codes: ``python -m tests.docs.errors_page`` writes it."""

from __future__ import annotations

from pathlib import Path

from evatui.kernel.admission.codes import CODES
from evatui.kernel.model.code import Code

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
_FAMILIES = {
    "1": "Reading: YAML, encoding, size",
    "2": "Manifest rules and integrity",
    "3": "Schemas",
    "4": "Policy and permissions",
    "5": "Lua: load and health",
    "6": "Reload and rollout",
    "7": "Adapters",
    "8": "Skills and plugins",
}


def page() -> str:
    lines = [
        "# Diagnostic codes",
        "",
        "Made from the table that the runtime itself uses. `eva explain CODE` prints one entry;",
        "`eva capability explain-rejected` shows which of them matter in a workspace, with file, line and column.",
    ]
    for number, title in _FAMILIES.items():
        lines += [
            "",
            f"## EVA-{number}xx: {title}",
            "",
            "| code | what | reason | why | fix |",
            "|---|---|---|---|---|",
        ]
        lines += [_row(code) for key, code in sorted(CODES.items()) if key.startswith(f"EVA-{number}")]
    return "\n".join(lines) + "\n"


def _row(code: Code) -> str:
    return " | ".join(
        (f"| {code.code}", _cell(code.title), f"`{code.reason.value}`", _cell(code.why), f"{_cell(code.fix or '')} |")
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
