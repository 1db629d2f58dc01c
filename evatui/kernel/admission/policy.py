"""Policy files on their way in: every file of a layer valid, or the layer before stays in force."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.layer import Layer, LayerName, PolicyFile, closed_layer, make_layer
from evatui.kernel.admission.policy_rules import POLICY
from evatui.kernel.admission.pooled_policy import Policy, make_policy
from evatui.kernel.admission.render import render_all
from evatui.kernel.admission.report import POLICY_FAULTS, Fault, Report
from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.document import Document
from evatui.kernel.workspace.files import FileProblem, SourceFile
from evatui.kernel.workspace.yaml import Node, YamlProblem, plain

__all__ = ["Policy", "PolicyResult", "load_policy"]


_NO_FILES = make_layer(LayerName.WORKSPACE, ()).epoch
"""Valid too, and grants as little as none; but what a first file denies must not wait until the next one is valid."""


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """``policy`` is in force. ``diagnostics`` (rendered) say why it is not the one on disk, if it is not; ``broken``
    are the layers of which that is so."""

    policy: Policy
    diagnostics: tuple[Diagnostic, ...] = ()
    broken: tuple[LayerName, ...] = ()


def load_policy(
    files: Sequence[SourceFile | FileProblem],
    previous: Policy | None,
    operator: SourceFile | FileProblem | None = None,
) -> PolicyResult:
    """The workspace's ``files``, pooled, and the ``operator``'s file, where there is one.

    If a file of a layer is broken, that layer of ``previous`` stays in force; without a valid one, it grants nothing,
    and what the other files, and the sound sections of the broken one, deny or limit holds.
    """
    before = {layer.name: layer for layer in previous.layers} if previous else {}
    layers: list[Layer] = []
    found: dict[LayerName, list[Diagnostic]] = {}
    if operator is not None:
        layers.append(_load_layer(LayerName.OPERATOR, [operator], before, found.setdefault(LayerName.OPERATOR, [])))
    layers.append(_load_layer(LayerName.WORKSPACE, files, before, found.setdefault(LayerName.WORKSPACE, [])))
    same = previous is not None and [*map(id, layers)] == [*map(id, previous.layers)]
    policy = previous if previous is not None and same else make_policy(*layers)
    told = tuple(diagnostic for problems in found.values() for diagnostic in problems)
    return PolicyResult(policy, told, tuple(name for name, problems in found.items() if problems))


def _load_layer(
    name: LayerName,
    files: Sequence[SourceFile | FileProblem],
    before: Mapping[LayerName, Layer],
    problems: list[Diagnostic],
) -> Layer:
    found: list[Diagnostic] = []
    sound: list[PolicyFile] = []
    trees: list[Node] = []
    for file in files:
        if isinstance(file, FileProblem):
            message = f"the policy cannot be read: {clean_line(file.detail)}"
            found.append(diagnose("EVA-401", message, Span(file.path)))
            continue
        try:
            document = Document(file.data, file.path)
        except YamlProblem as problem:
            found += map(_unreadable, problem.diagnostics)
            continue
        report = Report(document, POLICY_FAULTS)
        stated, tree = _read(document, report), document.tree
        found += report.found
        if stated is not None:
            trees.append(tree)
        known = stated if stated is not None else _sound(document)
        lines = {rule: line for rule, line in _rule_lines(tree) if rule.partition(".")[0] in known}
        sound.append(PolicyFile(file.path, file.digest, known, _grant_lines(tree), lines))
    found += _contradictions(trees)
    previous = before.get(name)
    if not found:
        layer = make_layer(name, sound)
        return previous if previous is not None and previous.epoch == layer.epoch else layer
    texts = {file.path: file.data for file in files if isinstance(file, SourceFile)}
    problems += render_all(found, texts)
    if previous is not None and previous.valid and previous.epoch != _NO_FILES:
        return previous
    return closed_layer(name, _epoch(files), sound)


def _read(document: Document, report: Report) -> dict[str, object] | None:
    if document.value is None:
        report.fault(Fault.NO_MAPPING, "the policy is empty; one that grants nothing says: version: 1", ())
        return None
    stated: dict[str, object] = POLICY.read(document.value, (), report)
    return None if report.failed else stated


def _sound(document: Document) -> dict[str, object]:
    """The sections of a broken file that are valid each by itself; of ``deny``, each entry that is."""
    written = document.value if isinstance(document.value, dict) else {}
    sound: dict[str, object] = {}
    for section, value in written.items():
        report = Report(document, POLICY_FAULTS)
        stated: dict[str, object] = POLICY.read({"version": 1, section: value}, (), report)
        if section == "deny" or not report.failed:
            sound[section] = stated[section]
    return sound


def _unreadable(problem: Diagnostic) -> Diagnostic:
    message = f"the policy cannot be read: {problem.message}"
    return diagnose("EVA-401", message, *problem.spans, notes=problem.notes)


def _grant_lines(tree: Node) -> tuple[int, ...]:
    grants = _under(tree, "grants")
    return tuple(node.place.line for node in grants.value) if grants and isinstance(grants.value, list) else ()


def _rule_lines(tree: Node) -> Iterator[tuple[str, int]]:
    """The lines of ceilings, deny entries and the like, by their dotted paths."""
    sections = tree.value if isinstance(tree.value, dict) else {}
    for section, node in sections.items():
        yield section, node.place.line
        for key, child in node.value.items() if isinstance(node.value, dict) else ():
            yield f"{section}.{key}", child.place.line
            for entry in child.value if section == "deny" and isinstance(child.value, list) else ():
                yield f"{section}.{key}.{plain(entry)}", entry.place.line


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
