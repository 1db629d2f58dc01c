"""Manifests broken at random, and a second opinion on what the broken ones say."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import yaml

from evatui.kernel.admission.manifest import values_of
from evatui.kernel.admission.manifest_rules import MANIFEST as FORMAT
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.diagnostic import Level
from evatui.kernel.workspace.layout import Layout
from tests.admission.harness import judge

__all__ = ["break_in_many_ways", "read_again"]

_JUNK = [
    *("\t", "\r", "\x00", "\x1b", "\u2028", "\u202e", "\ufeff", "é", "💥", "'", '"', ":", ": ", "#", " #", "-", "- "),
    *(
        "[",
        "]",
        "{",
        "}",
        ",",
        "&a ",
        "*a",
        "!!str ",
        "!x ",
        "|",
        ">",
        "%",
        "@",
        "`",
        "---\n",
        "...\n",
        "? ",
        "<<: ",
        "\n",
    ),
]
_VALUES = [
    *(
        "no",
        "yes",
        "on",
        "true",
        "null",
        "~",
        "",
        "012",
        "0o14",
        "0x1F",
        "1:30",
        "1e3",
        "1_000",
        "-1",
        "0",
        "1.0",
        ".inf",
    ),
    *(
        ".nan",
        "99999999999999999999",
        "2024-01-01",
        '"*"',
        "'*'",
        "[]",
        "{}",
        "[a, a]",
        "{a: 1, a: 2}",
        "../x",
        "/etc/x",
    ),
    *(
        "https://x",
        "runtime_worker",
        "lua_skill",
        "in_process",
        "process",
        "1.0",
        "v1",
        "[workspace]",
        '"true"',
        "a: b",
    ),
]
_Edit = Callable[[str, random.Random], str]


def _line(change: Callable[[list[str], int, random.Random], None]) -> _Edit:
    def edit(text: str, chance: random.Random) -> str:
        lines = text.split("\n")
        change(lines, chance.randrange(len(lines)), chance)
        return "\n".join(lines)

    return edit


def _drop(lines: list[str], at: int, chance: random.Random) -> None:
    del lines[at]


def _double(lines: list[str], at: int, chance: random.Random) -> None:
    lines.insert(chance.randrange(len(lines)), lines[at])


def _move(lines: list[str], at: int, chance: random.Random) -> None:
    lines.insert(chance.randrange(len(lines)), lines.pop(at))


def _indent(lines: list[str], at: int, chance: random.Random) -> None:
    lines[at] = " " * chance.randrange(5) + lines[at].lstrip()


def _value(lines: list[str], at: int, chance: random.Random) -> None:
    lines[at] = re.sub(r"(:|-)( .*)?$", lambda found: f"{found[1]} {chance.choice(_VALUES)}", lines[at], count=1)


def _misspell(lines: list[str], at: int, chance: random.Random) -> None:
    if found := re.match(r"( *)(\w+)(:.*)", lines[at]):
        name, where = found[2], chance.randrange(len(found[2]))
        lines[at] = f"{found[1]}{name[:where]}{chance.choice(['', 'x', name[where] * 2])}{name[where + 1 :]}{found[3]}"


def _characters(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(_JUNK) + text[at + chance.choice([0, 0, 1, 3]) :]


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))]


def _swap_case(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    return text[:at] + text[at].swapcase() + text[at + 1 :]


_EDITS: list[_Edit] = [
    *(_line(change) for change in (_drop, _double, _move, _indent, _value, _value, _misspell)),
    *(_characters, _characters, _cut, _swap_case),
]


def break_in_many_ways(
    files: Mapping[str, str | bytes], path: str, layout: Layout, ways: int, seed: str
) -> dict[str, int]:
    """Judges ``ways`` broken versions of the manifest at ``path``; how many were refused and admitted.

    Raises `AssertionError` for a refusal without a place in a file, and for one that is admitted and means
    something else than it says.
    """
    chance = random.Random(f"{seed} {path}")
    count = {"refused": 0, "admitted": 0}
    text = str(files[path])
    for _ in range(ways):
        broken = text
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            broken = chance.choice(_EDITS)(broken, chance) or "\n"
        verdict = judge({**files, path: broken}, layout, path)
        if isinstance(verdict, Candidate):
            count["admitted"] += 1
            _same_meaning(broken, verdict)
        else:
            count["refused"] += 1
            for found in verdict.diagnostics:
                _placed(found, {**files, path: broken}, broken)
    return count


def _placed(found: Any, files: Mapping[str, str | bytes], broken: str) -> None:
    span = found.primary
    assert span is not None, (found.message, broken)
    assert span.file in files, (span, broken)
    assert found.rendered, (found.message, broken)
    lines = len(re.split("\r\n|\n|\r", str(files[span.file])))
    assert 1 <= span.line <= lines, (span, broken)
    assert span.column >= 1
    assert found.level is Level.WARNING or found.help, found


def _same_meaning(broken: str, verdict: Candidate) -> None:
    said = read_again(broken.replace("\t", " "))  # where a tab is allowed, PyYAML's scanner in Python does not know
    understood = dict(values_of(verdict.snapshot.document))
    assert isinstance(said, dict), broken
    assert said.keys() <= understood.keys(), broken
    without = FORMAT.complete({})
    for name, value in understood.items():
        expected = _completed(said[name], without.get(name), value) if name in said else without.get(name)
        if name == "name" and said.get(name) is None:
            expected = said["id"]
        assert _plain(value) == _plain(expected), (name, value, expected, broken)


def _completed(said: Any, default: Any, understood: Any) -> Any:
    """What is said, with defaults for the rest of a mapping; ``"*"`` alone is a list of it."""
    if isinstance(said, dict) and isinstance(understood, dict):
        base = default if isinstance(default, dict) else {}
        rest = {key: value for key, value in understood.items() if key not in said}
        return {**rest, **{key: _completed(value, base.get(key), understood.get(key)) for key, value in said.items()}}
    if said == "*" and understood == ["*"]:
        return ["*"]
    return said


def _plain(value: Any) -> Any:
    return (
        repr(value).replace("\\t", " ")
        if not isinstance(value, dict)
        else {key: _plain(child) for key, child in value.items()}
    )


class _Core(yaml.SafeLoader):
    """PyYAML's own scanner in Python, with the scalars of YAML 1.2's core schema and no key twice."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


for _tag, _form in (
    ("null", r"null|Null|NULL|~|"),
    ("bool", r"true|True|TRUE|false|False|FALSE"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"),
):
    _Core.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_form})\\Z"), None)


def _number(loader: Any, node: Any) -> int:
    text = str(node.value)
    return int(text[2:], {"0o": 8, "0x": 16}[text[:2]]) if text[:2] in ("0o", "0x") else int(text)


def _mapping(loader: Any, node: Any) -> dict[str, Any]:
    pairs = [
        (loader.construct_object(key, deep=True), loader.construct_object(value, deep=True))
        for key, value in node.value
    ]
    assert len(pairs) == len({key for key, _ in pairs}), "a key is given twice"
    return dict(pairs)


_Core.add_constructor("tag:yaml.org,2002:int", _number)
_Core.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))
_Core.add_constructor("tag:yaml.org,2002:bool", lambda loader, node: node.value.lower() == "true")
_Core.add_constructor("tag:yaml.org,2002:map", _mapping)


def read_again(text: str) -> Any:
    """What the YAML says to a reader that shares nothing with the kernel's but the grammar."""
    return yaml.load(text, Loader=_Core)
