"""``docs/files.md``, made from the JSON Schemas of the files that people write: ``python -m tests.docs.files_page``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["PAGE", "page"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "files.md"
_FILES = {
    "manifest": ("The manifest", "`capabilities/*.yaml`: one capability each."),
    "policy": ("The policy", "`capabilities/policies/*.yaml`: what is granted. Nothing is but what is named here."),
    "adapter": ("An adapter", "`capabilities/adapters/*.yaml`: what answers besides Lua."),
    "workspace": ("The settings", "`eva.yaml`: all of them are optional."),
}
_HEAD = """\
# What stands in the files

Made from the schemas that the runtime itself uses: `eva schema print NAME` prints one, and an editor that reads
`# yaml-language-server: $schema=…` checks with it while one types. A key that is not here is refused, with the nearest
one that is. `[]` is an entry of a list, `*` any name.
"""


def page() -> str:
    return "\n".join([_HEAD, *(_section(name, *told) for name, told in _FILES.items())])


def _section(name: str, title: str, told: str) -> str:
    schema = json.loads((ROOT / "schemas" / f"evatui.{name}.schema.json").read_text(encoding="utf-8"))
    rows = [_row(path, entry, needed) for path, entry, needed in _keys(schema, "")]
    return "\n".join([f"## {title}", told, "", "| key | what it may be | default | |", "|---|---|---|---|", *rows, ""])


def _keys(schema: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Every key beneath ``schema`` with its path, and whether it has to be there where what it belongs to is."""
    for name, entry in schema.get("properties", {}).items():
        path = f"{prefix}{name}"
        yield path, entry, name in schema.get("required", ())
        yield from _inside(entry, path)


def _inside(entry: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    for one in (entry, *entry.get("anyOf", ())):
        yield from _keys(one, f"{path}.")
        if isinstance(items := one.get("items"), dict):
            yield from _inside(items, f"{path}[]")
        if isinstance(values := one.get("additionalProperties"), dict):
            yield from _inside(values, f"{path}.*")


def _row(path: str, entry: Mapping[str, Any], needed: bool) -> str:
    default = "needed" if needed else f"`{_short(entry['default'])}`" if "default" in entry else ""
    return f"| `{path}` | {_cell(_kind(entry))} | {_cell(default)} | {_cell(entry.get('description', ''))} |"


def _kind(entry: Mapping[str, Any]) -> str:
    if "anyOf" in entry:
        return ", or ".join(dict.fromkeys(_kind(one) for one in entry["anyOf"]))
    if "const" in entry:
        return f"`{_short(entry['const'])}`"
    if "enum" in entry:
        return " ".join(f"`{_short(value)}`" for value in entry["enum"])
    kind = entry.get("type", "anything")
    names = [kind] if isinstance(kind, str) else [name for name in kind if name != "null"]
    return " or ".join(_WORDS.get(name, name) + _limits(entry, name) for name in names)


_WORDS = {
    "string": "text",
    "integer": "whole number",
    "boolean": "`true` `false`",
    "array": "list",
    "object": "mapping",
}


def _limits(entry: Mapping[str, Any], kind: str) -> str:
    if kind not in ("integer", "number"):
        return ""
    least, most = entry.get("minimum"), entry.get("maximum")
    if most is None or most >= 2**53 - 1:
        return f" ≥ {least}" if least is not None else ""
    return f" {least} to {most}"


def _short(value: Any) -> str:
    plain = isinstance(value, str) and value and value.isprintable()
    text = value if plain else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else "as beneath"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
