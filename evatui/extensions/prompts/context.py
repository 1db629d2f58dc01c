"""What of the skills reaches an agent's system prompt: each text once, with the place that it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evatui.extensions.skills.catalogue import Catalogue, Copy
from evatui.extensions.skills.index import index

__all__ = ["Part", "context", "joined"]


@dataclass(frozen=True, slots=True)
class Part:
    """``why`` is ``index``, ``always``, ``include`` (a manifest asks for it) or ``spawn_only`` (it has such tools);
    ``location`` is empty for the index, which is made here."""

    why: str
    text: str
    name: str = ""
    location: str = ""


def context(known: Catalogue, more: Iterable[Part] = ()) -> tuple[Part, ...]:
    """The index first, then what the skills that can be used bring along, by name, and what comes with plugins; each
    text once."""
    parts: dict[str, Part] = {}
    for part in (*_parts(known), *more):
        if part.text.strip():
            parts.setdefault(part.location, part)
    return tuple(parts.values())


def joined(parts: Iterable[Part]) -> str:
    """As one text; a line above each part says where it comes from."""
    texts = [f"<!-- {part.location} -->\n{part.text}" if part.location else part.text for part in parts]
    return "\n---\n".join(text.rstrip("\n") for text in texts)


def _parts(known: Catalogue) -> Iterator[Part]:
    yield Part("index", index(known.skills))
    for one in known.skills:
        if one.available and not one.copy.skill.by_hand:
            yield from _brought(one.copy)


def _brought(copy: Copy) -> Iterator[Part]:
    skill, package = copy.skill, copy.package
    if skill.always or (package is not None and package.spawns):
        yield Part("always" if skill.always else "spawn_only", skill.body, skill.name, copy.location)
    for prompt in package.prompts if package is not None else ():
        yield Part("include", prompt.text, skill.name, prompt.location)
