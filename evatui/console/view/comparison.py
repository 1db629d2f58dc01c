"""What a version changes: permissions first, then fields, schemas, example answers and code; and how far that goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evatui.console.view.answer import rendered_lines
from evatui.console.view.code_diff import MAX_ROWS, DiffRow, diff_rows, shown
from evatui.console.view.ink import EMPTY, Ink, Line, line, wrap
from evatui.console.view.permissions import permission_lines

__all__ = ["changed_lines", "compared_lines", "refused_lines"]

Source = Callable[[int], list[Line]]

_CHANGES = {
    "new": ("is new", Ink.OK),
    "gone": ("is named no longer", Ink.WARN),
    "unreadable": ("cannot be read", Ink.BAD),
    "large": ("has too many changed lines to be compared one by one", Ink.WARN),
}
_SCHEMAS = ("input_schema", "output_schema")


def compared_lines(data: Mapping[str, Any]) -> Source:
    """The answer of ``capability.diff`` for any width. Making it takes some milliseconds for a large one."""
    account = [*_account(data), EMPTY]
    changed = changed_lines(data)
    return lambda width: [*(part for row in account for part in wrap(row, width, "    ")), *changed(width)]


def changed_lines(data: Mapping[str, Any], between: Sequence[Line] = ()) -> Source:
    """The same without how far it goes; ``between`` stands after the permissions."""
    fixed = [*_permissions(data), *between, *_before_code(data)]
    files = [(file, diff_rows(file.get("lines") or ())) for file in data.get("lines") or ()]
    order = sorted(files, key=lambda each: _rank(str(each[0].get("path") or "")))

    def source(width: int) -> list[Line]:
        lines = [part for row in fixed for part in wrap(row, width, "    ")]
        for file, rows in order:
            lines += [EMPTY, *_file(file, rows, width)]
        return lines

    return source


def _rank(path: str) -> int:
    """Schemas, then code, then the manifest, whose fields stand above already."""
    return 0 if path.endswith(".json") else 2 if path.endswith((".yaml", ".yml")) else 1


def _file(file: Mapping[str, Any], rows: Sequence[DiffRow], width: int) -> Iterator[Line]:
    said, ink = _CHANGES.get(str(file.get("change")), ("", Ink.DIM))
    yield line((str(file.get("path")), Ink.STRONG), (f"  {said}", ink))
    yield from shown(rows, width)
    if len(rows) >= MAX_ROWS:
        yield line((f"only the first {MAX_ROWS:,} lines of it are shown", Ink.DIM))


def _permissions(data: Mapping[str, Any]) -> Iterator[Line]:
    yield line(("Permissions", Ink.DIM))
    yield from permission_lines(data.get("permissions") or ()) or [
        line("  it may do what it could, no more and no less")
    ]


def _before_code(data: Mapping[str, Any]) -> Iterator[Line]:
    fields = [field for field in data.get("fields") or () if not str(field.get("path")).startswith(_OF_PERMISSIONS)]
    yield from _fields("Manifest", [field for field in fields if not str(field.get("path")).startswith(_SCHEMAS)])
    yield from _fields("Schemas", [field for field in fields if str(field.get("path")).startswith(_SCHEMAS)])
    yield from _examples(data.get("account"))


_OF_PERMISSIONS = ("permissions.", "limits.")


def _account(data: Mapping[str, Any]) -> Iterator[Line]:
    way = line(f"{data.get('from')} → ", (str(data.get("to")), Ink.STRONG))
    account = data.get("account")
    name = account.get("change_class") if isinstance(account, Mapping) else None
    if not isinstance(account, Mapping) or not isinstance(name, str):
        yield line(*way, ("  how far it goes is not known: it came in an earlier run, or was never judged", Ink.DIM))
        return
    widened = ", ".join(map(str, account.get("widened") or ()))
    wider = f"{widened} {'are' if ',' in widened else 'is'} wider" if widened else ""
    if name == "hot":
        yield line(*way, "  ", (name, Ink.OK), (": it took effect at once", Ink.DIM))
        return
    decided = "it was approved" if account.get("approved") else "somebody has to approve it"
    later = ", and takes effect at the next start" if name == "restart" else ""
    said = "; ".join(part for part in (wider, decided + later) if part)
    yield line(*way, "  ", (name, Ink.WARN), (f": {said}", Ink.DIM))


def _fields(title: str, fields: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    if not fields:
        return
    yield EMPTY
    yield line((title, Ink.DIM))
    for field in fields:
        yield line(
            f"  {field.get('path')}  ", (_short(field.get("from")), Ink.BAD), " → ", (_short(field.get("to")), Ink.OK)
        )


def _examples(account: object) -> Iterator[Line]:
    runs = account.get("examples") if isinstance(account, Mapping) else None
    if not isinstance(runs, list) or not runs:
        return
    yield EMPTY
    yield line(("Examples", Ink.DIM))
    for run in runs:
        sign, ink = ("✓", Ink.OK) if run.get("ok") else ("✗", Ink.BAD)
        said = str(run.get("problem") or ("answers otherwise than before" if run.get("changed") else "as before"))
        yield line(
            (f"  {sign} ", ink), str(run.get("name")), (f"  {said}", Ink.WARN if run.get("changed") else Ink.DIM)
        )
        if run.get("changed") and "after" in run:
            yield line(("      − ", Ink.BAD), (_answer(run.get("before")), Ink.BAD))
            yield line(("      + ", Ink.OK), (_answer(run.get("after")), Ink.OK))


def _answer(told: object) -> str:
    if not isinstance(told, Mapping):
        return "–"
    if told.get("ok"):
        return _short(told.get("result"), 400)
    error = told.get("error")
    return f"{error.get('kind')} {error.get('message')}" if isinstance(error, Mapping) else "–"


def _short(value: object, most: int = 100) -> str:
    if value is None:
        return "–"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else text[: most - 1] + "…"


_MARKS = {"+": Ink.OK, "-": Ink.BAD, "@": Ink.INFO, "=": Ink.DIM}


def refused_lines(data: Mapping[str, Any]) -> list[Line]:
    """The answer of ``capability.explain_rejected`` for one refusal, in force or not."""
    lines: list[Line] = []
    for refused in (data.get("rejections") or ())[:1]:
        for diagnostic in refused.get("diagnostics") or ():
            said = diagnostic.get("rendered") or f"{diagnostic.get('code')} {diagnostic.get('message')}"
            lines += [*rendered_lines(str(said)), EMPTY]
        lines += _fields("Manifest", refused.get("difference") or ())
        if refused.get("diff"):
            lines += [EMPTY, line(("What differs from ", Ink.DIM), (str(refused.get("against")), Ink.STRONG))]
            lines += [line((row, _MARKS.get(row[:1], Ink.PLAIN))) for row in str(refused["diff"]).split("\n")]
    return lines
