"""Cold admission of many manifests against what their files cost to read, hash, compose and walk."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.sandbox import NO_SANDBOX
from evatui.kernel.registry.scan import Scanner
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import open_layout
from tests.bench.arms import Arm, Comparison, Spread, interleave
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


def _admission(root: Path) -> dict[str, float]:
    """The first scan of a process, then two more of the same scanner; ``again``: verdicts that one change made new."""
    tree = Tree(root)
    scanner = Scanner(open_layout(root), tree, NO_SANDBOX, None)
    cold, _ = _scan(scanner, None)
    gc.freeze()  # as a kernel does when it has started
    nothing, before = _scan(scanner, frozenset())
    path = "schemas/g000/cap00000.input.json"
    file = root / path
    file.write_text(file.read_text() + " ")
    one, after = _scan(scanner, frozenset({path}))
    again = sum(after[path] is not verdict for path, verdict in before.items())
    tree.close()
    return {"cold": cold, "nothing": nothing, "one": one, "again": again}


def _scan(scanner: Scanner, changed: frozenset[str] | None) -> tuple[float, Mapping[str, object]]:
    begun = time.perf_counter()
    found = scanner.scan(changed, {})
    taken = time.perf_counter() - begun
    assert all(isinstance(verdict, Candidate) for verdict in found.verdicts.values())
    return taken, found.verdicts


async def _alone(arm: str, root: Path) -> dict[str, float]:
    """What ``arm`` measured in a process of its own, which has seen nothing before."""
    command = (sys.executable, "-m", "tests.bench.manifests", arm, str(root))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    told, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"the arm {arm!r} ended with {process.returncode}")
    measured: dict[str, float] = json.loads(told)
    return measured


async def measure(rounds: int) -> list[Section]:
    """``EVA_BENCH_MANIFESTS`` says how many (2,000); the whole takes three rounds, whatever ``rounds`` says."""
    admitted: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        generate(root, COUNT)

        async def floor() -> float:
            return (await _alone("floor", root))["floor"]

        async def cold() -> float:
            admitted.append(await _alone("admission", root))
            return admitted[-1]["cold"]

        arms = [Arm("read, hash, compose, walk", floor), Arm("cold admission", cold)]
        first = await interleave(arms, min(rounds, _ROUNDS))
    counted = admitted[1:]  # the first round warms the disk's cache
    second = [
        _beside_cold("cold admission", "cold", counted),
        _beside_cold("nothing changed", "nothing", counted),
        _beside_cold("one file changed", "one", counted),
    ]
    note = (
        f"{COUNT:,} generated manifests, each with a script and two schemas of its own. Cold admission is discovery, "
        "snapshots, manifest rules, schemas judged, policy; Lua apart. The base reads the same files with nothing "
        "in between, hashes them, composes YAML and JSON with libyaml and walks the position of every node. Each time "
        "either is taken in a new process, one process at a time; start and imports do not count. The looks after it "
        "are of the process that had just admitted them all."
    )
    lines = [*compared(first, "ms", 1e3), "", *compared(second, "ms", 1e3, ratio_digits=3), ""]
    again = max(int(one["again"]) for one in counted)
    lines.append(f"One changed file: {again} of {COUNT:,} capabilities judged again.")
    return [Section("Admission of many manifests", note, lines)]


def _beside_cold(name: str, key: str, admitted: Sequence[Mapping[str, float]]) -> Comparison:
    taken = [one[key] for one in admitted]
    return Comparison(name, Spread.of(taken), Spread.of([one[key] / one["cold"] for one in admitted]))


def _main(arm: str, folder: str) -> None:
    root = Path(folder)
    print(json.dumps(_admission(root) if arm == "admission" else {"floor": _floor(root)}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
