"""One file that is not there is one cause, however often it is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evatui.kernel.model.diagnostic import Diagnostic, Reason

__all__ = ["folded"]


_OF_FILES = frozenset({Reason.FILE_MISSING, Reason.PATH_NOT_ALLOWED})


def folded(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """``found`` with what is said of one file at several places made into one, where the first stood."""
    kept: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in found:
        alone = () if diagnostic.reason in _OF_FILES else (len(kept),)
        key = (diagnostic.code, diagnostic.message, *alone)
        first = kept.get(key)
        if first is None:
            kept[key] = diagnostic
        elif first.rendered == diagnostic.rendered == "":
            more = (replace(span, primary=False, label=span.label or "and here") for span in diagnostic.spans)
            spans = tuple(dict.fromkeys((*first.spans, *more)))
            kept[key] = replace(first, spans=spans, edits=(*first.edits, *diagnostic.edits))
    return list(kept.values())
