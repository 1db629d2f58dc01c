"""What is typed after ``:``: which action it is, what it is about, and what it could become."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from evatui.console.view.actions import Action, Actions, Takes
from evatui.console.view.ink import EMPTY, Ink, Line, join, line

__all__ = ["Typed", "candidates", "completed", "hint", "understood"]

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Typed:
    """``argument`` is empty where there is none."""

    action: Action
    argument: str = ""


def understood(text: str, actions: Actions) -> Typed | str:
    """The action, or why there is none. A word is that of an action, or one of its keys: ``:q``, ``:3``."""
    words = text.lstrip(" :").split()
    if not words:
        return "nothing was typed"
    action, used = _found(words, actions)
    if action is None:
        near = get_close_matches(words[0], [one.word for one in actions.all], n=1)
        return f"no command {words[0]}" + (f"; {near[0]}?" if near else "; tab shows what there is")
    argument = " ".join(words[used:])
    if argument and action.takes is Takes.NOTHING:
        return f"{action.word} takes nothing after it"
    return Typed(action, argument)


def _found(words: Sequence[str], actions: Actions) -> tuple[Action | None, int]:
    """The longest name wins, so that ``reload all`` is another one than ``reload``."""
    for used in (2, 1):
        name = "-".join(words[:used])
        for action in actions.all:
            if len(words) >= used and (action.word == name or (used == 1 and name in _keys(action))):
                return action, used
    return None, 0


def _keys(action: Action) -> tuple[str, ...]:
    return (*action.key.split(","), action.name_of_key) if action.key else ()


def candidates(text: str, actions: Actions, things: Iterable[str], themes: Iterable[str]) -> tuple[str, ...]:
    """The whole lines that ``text`` can become, the nearest first: words, or what may follow the word."""
    text = text.lstrip(" :")
    word, space, rest = text.partition(" ")
    if not space:
        names = sorted(action.word for action in actions.all)
        return tuple([name for name in names if name.startswith(word)] + [n for n in names if word in n[1:]])
    typed = understood(text, actions)
    if isinstance(typed, str):
        return ()
    known = {Takes.THING: things, Takes.ANYTHING: things, Takes.THEME: themes}.get(typed.action.takes, ())
    argument = typed.argument.casefold()
    begin = text[: len(text) - len(rest)] if typed.argument or rest == "" else text
    found = sorted(name for name in known if argument in name.casefold())
    found.sort(key=lambda name: not name.casefold().startswith(argument))
    return tuple(f"{begin.rstrip()} {name}" for name in found)


def completed(text: str, found: Sequence[str], step: int = 1) -> str:
    """``text`` one step on: what all candidates share, then one after the other."""
    if text in found:
        return found[(found.index(text) + step) % len(found)]
    return found[0] if step > 0 and found else found[-1] if found else text


def hint(text: str, found: Sequence[str], actions: Actions) -> Line:
    """What the word does that is there, and what it or the word can become."""
    typed = understood(text, actions)
    told, word = EMPTY, ""
    if isinstance(typed, Typed) and (typed.action.takes or len(found) < 2):
        word = typed.action.word
        told = line((f"{word} {typed.action.takes}".rstrip(), Ink.KEY), (f"  {typed.action.help}", Ink.DIM))
    names = [one.removeprefix(f"{word} ") for one in found if one != word]
    if names:
        more = f"  +{len(names) - _SHOWN}" if len(names) > _SHOWN else ""
        return join((told, line("  ".join(names[:_SHOWN]), (more, Ink.DIM))))
    if isinstance(typed, str) and text.strip():
        return line((typed, Ink.WARN))
    return told
