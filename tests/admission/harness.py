"""A workspace in memory or on disk, and the verdict on it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evatui.kernel.admission.admit import admit
from evatui.kernel.admission.policy import PolicyResult, load_policy
from evatui.kernel.admission.verdict import Candidate, Rejection, Verdict
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.sandbox import NO_SANDBOX, SandboxFacts
from evatui.kernel.workspace.discover import discover
from evatui.kernel.workspace.document import Document
from evatui.kernel.workspace.files import FileProblem, ProblemKind, SourceFile, Tree
from evatui.kernel.workspace.layout import Layout, open_layout
from evatui.kernel.workspace.snapshot import Snapshot, take_snapshot
from evatui.kernel.workspace.yaml import YamlProblem

MANIFEST = "capabilities/notes.yaml"
SCRIPT = "capabilities/tools/notes.lua"
TAKES = "schemas/notes.input.json"
GIVES = "schemas/notes.output.json"
POLICY = "capabilities/policies/main.yaml"

NOTES: Mapping[str, str] = {
    MANIFEST: """\
# Keeps short notes.
id: team-notes
name: Team notes
description: Finds notes by a word
kind: lua_tool
version: 2.3.1-beta.1
enabled: true
priority: 60
capabilities:
  - notes.find
  - notes.count
lua:
  script: capabilities/tools/notes.lua
  entry: find
  health_check: ready
  modules: {words: capabilities/modules/words.lua}
input_schema: schemas/notes.input.json
output_schema: schemas/notes.output.json
permissions:
  fs:
    read:
      - workspace/docs
    write: []
  network:
    hosts: [api.example.org]
    methods: [GET, POST]
  shell: {commands: [[git, status, --short]]}
  env: [NOTES_KEY]
  adapters:
    capabilities: [repo.file.read]
    providers: [files]
  events:
    emit: [/notes/**]
limits:
  timeout_ms: 2000
  max_input_bytes: 4096
  max_output_bytes: 8192
  concurrency: 3
  memory_bytes: 8388608
  host_calls: 20
  state_bytes: 0
reload:
  hot_reload: true
  strategy: generation_swap
  drain_timeout_ms: 500
  rollback_on_failure: false
  canary: null
  analysis: {min_samples: 5, max_error_rate: 0.5}
  examples: require
audit: {log_input: none, log_output: full}
isolation: auto
side_effects: idempotent
trust: {source: project}
state: {schema_version: 4}
""",
    SCRIPT: """\
function find(ctx, request)
  return {ok = true, result = {}}
end

function ready(ctx)
  return {ok = true}
end
""",
    "capabilities/modules/words.lua": "return {}\n",
    TAKES: """\
{
  "type": "object",
  "properties": {
    "word": {"type": "string"}
  },
  "required": ["word"]
}
""",
    GIVES: '{"type": "object",\n "properties": {"notes": {"type": "array", "items": {"type": "string"}}}}\n',
    POLICY: """\
version: 1
grants:
  - match: {ids: ["team-*"], kinds: [lua_tool, lua_skill], sources: [project]}
    names: ["notes.*"]
    fs: {read: [workspace], write: [workspace/out]}
    network: {hosts: ["*.example.org"]}
    shell: {commands: [[git, status]]}
    env: [NOTES_KEY]
    adapters: {capabilities: ["repo.file.*"], providers: ["*"]}
    events: {emit: ["/notes/**"]}
""",
}


def edited(**edits: tuple[str, str]) -> dict[str, str]:
    """`NOTES` with one text replaced in each of the files named ``manifest, takes, gives, policy, script``."""
    files = dict(NOTES)
    for name, (old, new) in edits.items():
        path = {"manifest": MANIFEST, "takes": TAKES, "gives": GIVES, "policy": POLICY, "script": SCRIPT}[name]
        assert files[path].count(old) == 1, f"{old!r} must stand once in {path}"
        files[path] = files[path].replace(old, new)
    return files


def source(path: str, text: str | bytes) -> SourceFile:
    data = text if isinstance(text, bytes) else text.encode()
    return SourceFile(path, data, hashlib.sha256(data).hexdigest(), (0, 0, len(data), 0, 0))


def snapshot(files: Mapping[str, str | bytes], path: str = MANIFEST) -> Snapshot:
    """A closure as it would be read from a disk that holds ``files``."""
    manifest = source(path, files[path])
    others = {name: source(name, text) for name, text in files.items() if name != path}
    try:
        document = Document(manifest.data, path)
    except YamlProblem as problem:
        return Snapshot(path, manifest, None, problem.diagnostics, {}, {}, manifest.digest, {})
    missing = {
        name: FileProblem(name, ProblemKind.MISSING, "there is no such file")
        for name in _named(document.value)
        if name not in others
    }
    return Snapshot(path, manifest, document, (), others, missing, manifest.digest, {})


def _named(raw: Any) -> Iterator[str]:
    """The paths that a manifest names, whatever else it holds."""
    raw = raw if isinstance(raw, dict) else {}
    lua = raw.get("lua") if isinstance(raw.get("lua"), dict) else {}
    modules = lua.get("modules") if isinstance(lua.get("modules"), dict) else {}
    named = (lua.get("script"), *modules.values(), raw.get("input_schema"), raw.get("output_schema"))
    return (name for name in named if isinstance(name, str))


def policy_of(files: Mapping[str, str | bytes]) -> PolicyResult:
    return load_policy([source(path, text) for path, text in files.items() if "/policies/" in path], None)


def judge(
    files: Mapping[str, str | bytes], layout: Layout, path: str = MANIFEST, sandbox: SandboxFacts = NO_SANDBOX
) -> Verdict:
    result = policy_of(files)
    return admit(
        snapshot(files, path),
        layout=layout,
        policy=result.policy,
        sandbox=sandbox,
        policy_diagnostics=result.diagnostics,
    )


def judge_disk(root: Path, files: Mapping[str, str | bytes]) -> dict[str, Verdict]:
    """The same by way of the disk: discovery, snapshot, policy. Verdicts by manifest path."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    layout = open_layout(root)
    tree = Tree(root)
    try:
        found = discover(tree, layout)
        result = load_policy([tree.read(path, 1 << 20) for path in found.policies], None)
        return {
            path: admit(
                take_snapshot(tree, layout, path),
                layout=layout,
                policy=result.policy,
                policy_diagnostics=result.diagnostics,
            )
            for path in found.manifests
        }
    finally:
        tree.close()


def accepted(verdict: Verdict) -> Candidate:
    assert isinstance(verdict, Candidate), "\n\n".join(d.rendered for d in verdict.diagnostics)
    return verdict


def refused(verdict: Verdict) -> Rejection:
    assert isinstance(verdict, Rejection), "the manifest was admitted"
    return verdict


def only(verdict: Verdict) -> Diagnostic:
    """The one diagnostic of a refusal."""
    (found,) = refused(verdict).diagnostics
    return found


def line_of(files: Mapping[str, str | bytes], path: str, text: str) -> int:
    """The number of the one line that holds ``text``."""
    lines = [number for number, line in enumerate(str(files[path]).split("\n"), 1) if text in line]
    assert len(lines) == 1, f"{text!r} stands in the lines {lines} of {path}"
    return lines[0]
