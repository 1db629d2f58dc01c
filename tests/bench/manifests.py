"""Cold admission of many manifests against what their files cost to read, hash, compose and walk."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.sandbox import NO_SANDBOX
from evatui.kernel.registry.scan import Scanner
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import open_layout
from tests.bench.arms import Arm, interleave
from tests.bench.results import Section, compared

__all__ = ["generate", "measure"]

COUNT = int(os.environ.get("EVA_BENCH_MANIFESTS", "2000"))
_ROUNDS = 3
_SCRIPT = "function invoke(ctx, request)\n  return {ok = true, result = {text = '%d'}}\nend\n"


def generate(root: Path, count: int) -> None:
    """``count`` capabilities, each with a script and two schemas of its own, 100 to a folder."""
    for number in range(count):
        stem = f"g{number // 100:03d}/cap{number:05d}"
        schema = {"type": "object", "title": str(number), "properties": {"name": {"type": "string"}}}
        files = {
            f"capabilities/{stem}.yaml": (
                f"id: cap-{number:05d}\nname: Capability {number}\ndescription: Number {number} of many.\n"
                f"kind: lua_tool\nversion: 1.0.{number}\ncapabilities:\n  - many.cap{number:05d}\n"
                f"lua:\n  script: capabilities/tools/{stem}.lua\n  entry: invoke\n"
                f"input_schema: schemas/{stem}.input.json\noutput_schema: schemas/{stem}.output.json\n"
                "permissions:\n  fs:\n    read: [workspace]\n    write: []\n  network: false\n  shell: false\n"
                "limits:\n  timeout_ms: 1000\n  concurrency: 2\n"
            ),
            f"capabilities/tools/{stem}.lua": _SCRIPT % number,
            f"schemas/{stem}.input.json": json.dumps({**schema, "required": ["name"], "additionalProperties": False}),
            f"schemas/{stem}.output.json": json.dumps(schema),
        }
        for path, text in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    policy = root / "capabilities/policies/default.yaml"
    policy.parent.mkdir(parents=True)
    policy.write_text('version: 1\ngrants:\n  - match: {ids: ["cap-*"]}\n    fs: {read: [workspace]}\n')


def _floor(root: Path) -> float:
    """Read, hash; compose the YAML and the JSON, and walk every node's position."""
    paths = sorted(path for folder in ("capabilities", "schemas") for path in (root / folder).rglob("*.*"))
    begun = time.perf_counter()
    for path in paths:
        data = path.read_bytes()
        hashlib.sha256(data).hexdigest()
        if path.suffix in (".yaml", ".json"):
            places: list[Any] = []
            _walk(yaml.compose(data, Loader=yaml.CSafeLoader), places)
    return time.perf_counter() - begun


def _walk(node: Any, places: list[Any]) -> None:
    start, end = node.start_mark, node.end_mark
    places.append((start.line, start.column, end.line, end.column))
    children = node.value if isinstance(node.value, list) else ()
    for child in children:
        for part in child if isinstance(child, tuple) else (child,):
            _walk(part, places)


class _Admission:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._layout = open_layout(root)
        self._tree = Tree(root)
        self._scanner = self._fresh()

    def _fresh(self) -> Scanner:
        return Scanner(self._layout, self._tree, NO_SANDBOX, None)

    def cold(self) -> float:
        self._scanner = self._fresh()
        return self._scan(None)

    def nothing_changed(self) -> float:
        return self._scan(frozenset())

    def one_changed(self) -> float:
        path = "schemas/g000/cap00000.input.json"
        file = self._root / path
        file.write_text(file.read_text() + " ")
        return self._scan(frozenset({path}))

    def judged_again(self) -> int:
        """How many verdicts are new after one file was changed."""
        self.nothing_changed()
        before = dict(self._scanner.scan(frozenset(), {}).verdicts)
        self.one_changed()
        after = self._scanner.scan(frozenset(), {}).verdicts
        return sum(after[path] is not verdict for path, verdict in before.items())

    def _scan(self, changed: frozenset[str] | None) -> float:
        begun = time.perf_counter()
        found = self._scanner.scan(changed, {})
        taken = time.perf_counter() - begun
        assert all(isinstance(verdict, Candidate) for verdict in found.verdicts.values())
        return taken

    def close(self) -> None:
        self._tree.close()


async def measure(rounds: int) -> list[Section]:
    """``EVA_BENCH_MANIFESTS`` says how many (2,000); the whole takes three rounds, whatever ``rounds`` says."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        generate(root, COUNT)
        admission = _Admission(root)

        async def floor() -> float:
            return _floor(root)

        async def cold() -> float:
            return admission.cold()

        async def nothing() -> float:
            return admission.nothing_changed()

        async def one() -> float:
            return admission.one_changed()

        arms = [Arm("read, hash, compose, walk", floor), Arm("cold admission", cold)]
        first = await interleave(arms, min(rounds, _ROUNDS))
        second = await interleave(
            [arms[1], Arm("nothing changed", nothing), Arm("one file changed", one)], min(rounds, _ROUNDS)
        )
        again = admission.judged_again()
        admission.close()
    note = (
        f"{COUNT:,} generated manifests, each with a script and two schemas of its own. Cold admission is discovery, "
        "snapshots, manifest rules, schemas judged, policy; Lua apart. The base reads the same files with nothing "
        "in between, hashes them, composes YAML and JSON with libyaml and walks the position of every node."
    )
    lines = [*compared(first, "ms", 1e3), "", *compared(second, "ms", 1e3), ""]
    lines.append(f"One changed file: {again} of {COUNT:,} capabilities judged again.")
    return [Section("Admission of many manifests", note, lines)]
