"""``docs/events.md``, made from the table of topics: ``python -m tests.docs.events_page`` writes it."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from evatui.kernel.model.topics import TOPICS, Topic

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parents[2] / "docs" / "events.md"
_HEAD = """\
# Events

Made from the table that the runtime itself uses: what is not in it, topic or field, it does not emit. Only it emits to
these topics; a handler whose manifest and policy say so emits to others, with `ctx.host.emit_event`. What stands around
a payload, and how one listens, is in [records.md](records.md#events)."""


def page() -> str:
    lines = [_HEAD]
    for root, topics in groupby(sorted(TOPICS.values(), key=_root), _root):
        lines += ["", f"## {root}", "", "| topic | from | what it means | payload |", "|---|---|---|---|"]
        lines += [_row(topic) for topic in topics]
    return "\n".join(lines) + "\n"


def _root(topic: Topic) -> str:
    return topic.name.rpartition("/")[0]


def _row(topic: Topic) -> str:
    fields = " ".join(f"`{name}`" for name in topic.payload)
    return f"| `{topic.name}` | {topic.by} | {topic.meaning} | {fields} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
