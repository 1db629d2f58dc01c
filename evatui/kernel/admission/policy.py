"""Policy files on their way in: every file valid, or the policy before stays in force."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.policy_rules import POLICY
from evatui.kernel.admission.pooled_policy import Policy, PolicyFile, empty_policy, make_policy
from evatui.kernel.admission.render import render_all
from evatui.kernel.admission.report import POLICY_FAULTS, Fault, Report
from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.files import FileProblem, SourceFile
from evatui.kernel.workspace.yaml import Node, YamlProblem, parse, plain

__all__ = ["Policy", "PolicyResult", "load_policy"]


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """``policy`` is in force. ``diagnostics`` (rendered) say why it is not the one on disk, if it is not."""

    policy: Policy
    diagnostics: tuple[Diagnostic, ...] = ()


def load_policy(files: Sequence[SourceFile | FileProblem], previous: Policy | None) -> PolicyResult:
    """Pools all files. If one is broken, ``previous`` stays in force; without a valid one, nothing is granted."""
    found: list[Diagnostic] = []
    valid: list[PolicyFile] = []
    trees: list[Node] = []
    for file in files:
        if isinstance(file, FileProblem):
            message = f"the policy cannot be read: {clean_line(file.detail)}"
            found.append(diagnose("EVA-401", message, Span(file.path)))
            continue
        try:
            tree = parse(file.data, file.path)
        except YamlProblem as problem:
            found += map(_unreadable, problem.diagnostics)
            continue
        report = Report(tree, POLICY_FAULTS)
        stated = _read(tree, report)
        found += report.found
        if stated is not None:
            trees.append(tree)
            valid.append(PolicyFile(file.path, file.digest, stated, _grant_lines(tree)))
    found += _contradictions(trees)
    if not found:
        return PolicyResult(make_policy(valid))
    texts = {file.path: file.data for file in files if isinstance(file, SourceFile)}
    in_force = previous if previous is not None and previous.valid else empty_policy(_epoch(files))
    return PolicyResult(in_force, render_all(found, texts))


def _read(tree: Node, report: Report) -> dict[str, object] | None:
    if tree.value is None:
        report.fault(Fault.NO_MAPPING, "the policy is empty; one that grants nothing says: version: 1", ())
        return None
    stated: dict[str, object] = POLICY.read(tree, (), report)
    return None if report.failed else stated


def _unreadable(problem: Diagnostic) -> Diagnostic:
    message = f"the policy cannot be read: {problem.message}"
    return diagnose("EVA-401", message, *problem.spans, notes=problem.notes)


def _grant_lines(tree: Node) -> tuple[int, ...]:
    grants = _under(tree, "grants")
    return tuple(node.place.line for node in grants.value) if grants and isinstance(grants.value, list) else ()


def _contradictions(trees: Sequence[Node]) -> Iterator[Diagnostic]:
    """No name may have two meanings: of a credential or a client, files may only repeat each other."""
    for path in (("credentials",), ("mcp_server", "principals")):
        first: dict[str, Node] = {}
        for tree in trees:
            block = _under(tree, *path)
            entries = block.value if block and isinstance(block.value, dict) else {}
            for name, node in entries.items():
                known = first.setdefault(name, node)
                if plain(known) != plain(node):
                    message = f'{".".join(path)} gives "{clean_line(name)}" two meanings'
                    other = known.span("first given here", primary=False)
                    yield diagnose("EVA-404", message, node.span(), other)


def _under(tree: Node, *path: str) -> Node | None:
    node: Node | None = tree
    for step in path:
        node = node.value.get(step) if node and isinstance(node.value, dict) else None
    return node


def _epoch(files: Sequence[SourceFile | FileProblem]) -> str:
    """Changes with every attempt, so that verdicts that quote a broken file are not kept past it."""
    parts = (f"{file.path}\0{file.digest if isinstance(file, SourceFile) else file.kind}" for file in files)
    return "broken:" + hashlib.sha256("\0".join(parts).encode()).hexdigest()
