"""The disk as verdicts: every manifest, what it comes to, and what has not changed since the last look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evatui.kernel.admission.admit import admit, duplicates
from evatui.kernel.admission.policy import Policy, load_policy
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.workspace.discover import discover
from evatui.kernel.workspace.files import FileProblem, SourceFile, Tree
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.snapshot import Snapshot, take_snapshot

__all__ = ["Scan", "Scanner"]

_POLICY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Scan:
    """``verdicts`` by manifest path; ``touched`` are those that were looked at anew."""

    verdicts: Mapping[str, Candidate | Rejection]
    touched: frozenset[str]
    policy: Policy
    problems: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    snapshot: Snapshot
    verdict: Candidate | Rejection
    epoch: str


class Scanner:
    """Reads and judges; blocking, so it runs in a thread, one scan at a time."""

    def __init__(self, layout: Layout, tree: Tree) -> None:
        self._layout = layout
        self._tree = tree
        self._policy: Policy | None = None
        self._seen: dict[str, _Seen] = {}

    def scan(self, changed: frozenset[str], owners: Mapping[str, str]) -> Scan:
        """Judges every manifest. ``changed``: re-read at least these paths; empty re-reads all of them.

        ``owners`` maps a folded id to the manifest path of the capability that serves under it.
        """
        found = discover(self._tree, self._layout)
        policy, policy_problems = self._read_policy(found.policies)
        touched = set()
        seen: dict[str, _Seen] = {}
        for path in found.manifests:
            old = self._seen.get(path)
            if old is not None and not self._is_stale(old.snapshot, changed) and old.epoch == policy.epoch:
                seen[path] = old
                continue
            try:
                snapshot = take_snapshot(self._tree, self._layout, path)
            except FileProblem:
                continue  # it went away since the folder was listed
            verdict = admit(snapshot, layout=self._layout, policy=policy, policy_diagnostics=policy_problems)
            seen[path] = _Seen(snapshot, verdict, policy.epoch)
            touched.add(path)
        self._seen = seen
        judged = duplicates([entry.verdict for entry in seen.values()], owners)
        return Scan(
            {verdict.path: verdict for verdict in judged},
            frozenset(touched),
            policy,
            (*found.problems, *policy_problems),
        )

    def _is_stale(self, snapshot: Snapshot, changed: frozenset[str]) -> bool:
        """Must the closure be read again? A file named as changed, or one whose signature moved."""
        if not changed or not changed.isdisjoint(snapshot.signatures):
            return True
        return self._tree.signatures(snapshot.signatures) != snapshot.signatures

    def _read_policy(self, paths: tuple[str, ...]) -> tuple[Policy, tuple[Diagnostic, ...]]:
        files: list[SourceFile | FileProblem] = []
        for path in paths:
            try:
                files.append(self._tree.read(path, _POLICY_BYTES))
            except FileProblem as problem:
                files.append(problem)
        result = load_policy(files, self._policy)
        self._policy = result.policy
        return result.policy, result.diagnostics
