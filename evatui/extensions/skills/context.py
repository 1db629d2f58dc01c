"""What of the skills reaches an agent's system prompt: each text once, with the place that it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evatui.extensions.skills.catalogue import Catalogue
from evatui.extensions.skills.index import index

__all__ = ["Part", "context", "joined"]


@dataclass(frozen=True, slots=True)
class Part:
    """``why`` is ``index`` or ``always``; ``location`` is empty for the index, which is made here."""

    why: str
    text: str
    name: str = ""
    location: str = ""


def context(known: Catalogue) -> tuple[Part, ...]:
    """The index first, then the texts of skills that are ``always`` wanted and can be used, by name."""
    return tuple(part for part in _parts(known) if part.text)


def joined(parts: Iterable[Part]) -> str:
    """As one text; a line above each part says where it comes from."""
    texts = [f"<!-- {part.location} -->\n{part.text}" if part.location else part.text for part in parts]
    return "\n---\n".join(text.rstrip("\n") for text in texts)


def _parts(known: Catalogue) -> Iterator[Part]:
    yield Part("index", index(known.skills))
    for one in known.skills:
        if one.available and one.copy.skill.always:
            yield Part("always", one.copy.skill.body, one.name, one.copy.location)
