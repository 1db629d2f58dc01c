"""The disk as verdicts: every manifest, what it comes to, and what has not changed since the last look."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from evatui.kernel.admission.adapters import AdaptersResult, apart, load_adapters
from evatui.kernel.admission.admit import duplicates
from evatui.kernel.admission.exposing import one_of_a_name
from evatui.kernel.admission.layer import LayerName
from evatui.kernel.admission.policy import Policy, PolicyResult, load_policy
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.exposed import handler_name
from evatui.kernel.model.ids import fold
from evatui.kernel.model.sandbox import SandboxFacts
from evatui.kernel.registry.collecting import collected_seldom
from evatui.kernel.registry.judge import Judge
from evatui.kernel.registry.kept_policy import KeptPolicy
from evatui.kernel.registry.seen import Index, Seen
from evatui.kernel.workspace.codes import reading_diagnostic
from evatui.kernel.workspace.discover import Discovery, discover
from evatui.kernel.workspace.files import FileProblem, Signature, SourceFile, Tree
from evatui.kernel.workspace.found import Known, known_of
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.settling import Source
from evatui.kernel.workspace.together import read_together
from evatui.kernel.workspace.visit import Visit

__all__ = ["Scan", "Scanner"]

_FILE_BYTES = 1 << 20
"""Of a policy, and of the manifest of an adapter."""
_SETTLE_SECONDS = 0.05
_NOBODY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Scan:
    """``verdicts`` by manifest path; ``problems`` are those beyond single manifests.

    ``idle`` are files among the manifests and scripts that no manifest names.
    """

    verdicts: Mapping[str, Candidate | Rejection]
    policy: Policy
    adapters: tuple[Adapter, ...]
    problems: tuple[Diagnostic, ...]
    idle: tuple[str, ...]


class Scanner:
    """Reads and judges; blocking, so it runs in a thread, one scan at a time."""

    def __init__(
        self,
        layout: Layout,
        tree: Tree,
        sandbox: SandboxFacts,
        home: OperatorHome | None,
        kept: KeptPolicy | None = None,
    ) -> None:
        self._layout = layout
        self._judge = Judge(layout, sandbox)
        self._home = home
        self._kept = kept
        self._tree = tree
        self._policy: PolicyResult | None = None
        self._policy_signatures: tuple[Mapping[str, Signature | None], Signature | None] = ({}, None)
        self._adapters = AdaptersResult()
        self._adapter_paths: tuple[str, ...] = ()
        self._adapter_signatures: Mapping[str, Signature | None] = {}
        """Of their schemas as well."""
        self._seen: dict[str, Seen] = {}
        self._index: Index | None = None
        self._known: tuple[Mapping[str, Seen], Known] | None = None
        self._last: Scan | None = None
        self._listed: Discovery | None = None
        self._about: object = None
        """What else the last scan followed from, beside what was seen."""

    def on_defect(self, tell: Callable[[BaseException], object]) -> None:
        """``tell`` is called in the thread of a scan with what went wrong while one manifest was judged."""
        self._judge.on_defect = tell

    @property
    def manifests(self) -> tuple[str, ...]:
        """The paths of those that were there last."""
        return tuple(self._seen)

    def scan(
        self, changed: frozenset[str] | None, owners: Mapping[str, str], exposed: Mapping[str, str] = _NOBODY
    ) -> Scan:
        """Judges every manifest. ``changed``: re-read these paths, and whatever moved by its signature; None: all.

        ``owners`` maps a folded id to the manifest path of the capability that serves under it, and ``exposed`` the
        `likeness` of a name that MCP clients see to that of the handler that serves under that. A workspace folder
        that was made anew is followed; one that is gone says nothing about what is in it, so all stays as it was.
        """
        if not self._tree.follow() and self._last is not None:
            return replace(self._last, problems=(_gone(), *self._last.problems))
        with collected_seldom(), Visit(self._tree) as visit:
            self._last = self._judged(visit, changed, owners, exposed)
        return self._last

    def _judged(
        self, tree: Tree, changed: frozenset[str] | None, owners: Mapping[str, str], exposed: Mapping[str, str]
    ) -> Scan:
        found = discover(tree, self._layout)
        if not {*self._policy_signatures[0], *self._adapter_paths} <= {*found.policies, *found.adapters}:
            time.sleep(_SETTLE_SECONDS)  # one that is gone may be a save that has removed the old file already
            found = discover(tree, self._layout)
        in_force = self._policy_of(found.policies, changed)
        policy = in_force.policy
        adapters = self._adapters_of(found.adapters, changed)
        still = self._still(changed, policy.epoch)
        seen: dict[str, Seen] = {}
        for path in found.manifests:
            entry = still.get(path) or self._judge.judge(tree, path, in_force)
            if entry is not None:  # else it went away since the folder was listed
                seen[path] = entry
        about = (found, found.others, in_force, adapters, dict(owners), dict(exposed))
        if self._last is not None and about == self._about and seen.keys() == still.keys() == self._seen.keys():
            return self._last
        self._seen, self._index, self._listed, self._about = seen, None, found, about
        judged = one_of_a_name(duplicates([entry.verdict for entry in seen.values()], owners), exposed)
        kept, unkept = _apart(adapters, judged)
        return Scan(
            {verdict.path: verdict for verdict in judged},
            policy,
            kept,
            (*found.problems, *in_force.diagnostics, *adapters.diagnostics, *unkept),
            _idle(found.others, seen.values()),
        )

    def again(self, changed: frozenset[str]) -> list[tuple[Candidate, Candidate]] | None:
        """What the files ``changed`` make of sound manifests that stay sound: of each the last verdict and the new one.

        None where something else may come of them (a manifest that is new, gone, refused or has another id, other
        names or other files; a policy; a folder): then it takes a `scan`.
        """
        last, known = self._last, self._policy
        if last is None or known is None or not self._tree.follow():
            return None
        with Visit(self._tree) as visit:
            paths = None if self._rules_moved(visit, changed) else self._manifests_of(changed, visit)
            if paths is None:
                return None
            pairs: list[tuple[Candidate, Candidate]] = []
            for path in sorted(paths):
                before = last.verdicts.get(path)
                after = self._judged_again(visit, path, known) if before is self._seen[path].verdict else None
                if not isinstance(before, Candidate) or after is None or _ties(before) != _ties(after):
                    return None
                pairs.append((before, after))
        self._last = replace(last, verdicts={**last.verdicts, **{after.path: after for _, after in pairs}})
        return pairs

    def moved(self) -> bool:
        """Is there anything else on disk than what was read last? By what is listed, and by signatures."""
        listed = self._listed
        with Visit(self._tree) as visit:
            if discover(visit, self._layout) != listed or self._rules_moved(visit, frozenset()):
                return True
            return bool(self._tree.moved(self._signatures()))

    def unlike(self, manifests: Iterable[str]) -> frozenset[str]:
        """The files of ``manifests`` whose bytes are not those that were read last. For any thread, at any time."""
        with Visit(self._tree) as visit:
            files = {file for path in manifests if path in self._seen for file in self._seen[path].files}
            return frozenset(file.path for file in files if not _has_bytes(visit, file))

    def _manifests_of(self, changed: frozenset[str], tree: Tree) -> set[str] | None:
        if self._index is None:
            self._index = Index(self._seen)
        return self._index.manifests_of(changed, tree)

    def _judged_again(self, tree: Tree, path: str, in_force: PolicyResult) -> Candidate | None:
        """None where it is refused, or made of other files than before."""
        known = self._seen[path]
        entry = self._judge.judge(tree, path, in_force)
        if entry is None or not isinstance(entry.verdict, Candidate):
            return None
        if entry.names != known.names or known.epoch != entry.epoch:
            return None
        self._seen, self._about = {**self._seen, path: entry}, None
        return entry.verdict

    def _rules_moved(self, tree: Tree, changed: frozenset[str]) -> bool:
        """Is a policy or an adapter another one by now, or named as changed?"""
        policies, operators = self._policy_signatures
        known = {**policies, **self._adapter_signatures}
        if not changed.isdisjoint(known) or tree.signatures(known) != known:
            return True
        return (self._home.policy_signature() if self._home else None) != operators

    def _still(self, changed: frozenset[str] | None, epoch: str) -> dict[str, Seen]:
        """What need not be read again: judged by the same policy, no file named as changed, no signature moved."""
        if changed is None:
            return {}
        moved = self._tree.moved(self._signatures())
        return {
            path: seen
            for path, seen in self._seen.items()
            if seen.epoch == epoch
            and (not changed or changed.isdisjoint(seen.names))
            and (not moved or moved.isdisjoint(seen.snapshot.signatures))
        }

    def _signatures(self) -> Known:
        """Of all that was read, as it was then; kept for as long as nothing else is read."""
        if self._known is None or self._known[0] is not self._seen:
            known = known_of(one for entry in self._seen.values() for one in entry.snapshot.signatures.items())
            self._known = (self._seen, known)
        return self._known[1]

    def _policy_of(self, paths: tuple[str, ...], changed: frozenset[str] | None) -> PolicyResult:
        """The policy in force; its files are read again where none or one of them is named, or a signature moved.

        The operator's own lies outside the workspace, where nothing is watched: its signature is compared each time.
        """
        signatures = self._tree.signatures(paths), self._home.policy_signature() if self._home else None
        known = self._policy
        named = not changed or not changed.isdisjoint(paths)
        if known is not None and not named and signatures == self._policy_signatures:
            return known
        self._policy_signatures = signatures
        before = known.policy if known else self._kept.read() if self._kept else None
        operator = self._operators(before)
        files = read_together(self._tree, paths, self._layout.policies, _FILE_BYTES)
        self._policy = load_policy(files, before, operator)
        if self._kept is not None:
            self._kept.keep(self._policy, files, operator)
        return self._policy

    def _operators(self, known: Policy | None) -> SourceFile | FileProblem | None:
        """The operator's own file. One that is gone counts as gone only when it still is a moment later."""
        if self._home is None:
            return None
        found = self._home.read_policy(_FILE_BYTES)
        if found is None and known is not None and known.layer(LayerName.OPERATOR) is not None:
            time.sleep(_SETTLE_SECONDS)
            return self._home.read_policy(_FILE_BYTES)
        return found

    def _adapters_of(self, paths: tuple[str, ...], changed: frozenset[str] | None) -> AdaptersResult:
        """Read again where no file or one of these is named as changed, or a signature moved."""
        files = (*paths, *self._adapters.schemas)
        signatures = self._tree.signatures(files)
        named = not changed or not changed.isdisjoint(files)
        if named or signatures != self._adapter_signatures:
            manifests = read_together(self._tree, paths, self._layout.adapters, _FILE_BYTES)
            self._adapters = load_adapters(manifests, self._schemas)
            self._adapter_paths = paths
            now = self._tree.signatures(self._adapters.schemas)
            files = (*paths, *self._adapters.schemas)
            self._adapter_signatures = {file: signatures.get(file, now.get(file)) for file in files}
        return self._adapters

    def _schemas(self, paths: Sequence[str]) -> list[Source]:
        return read_together(self._tree, paths, self._layout.schemas, _FILE_BYTES)


def _apart(
    found: AdaptersResult, judged: Iterable[Candidate | Rejection]
) -> tuple[tuple[Adapter, ...], tuple[Diagnostic, ...]]:
    if not found.adapters:
        return (), ()
    return apart(found.adapters, {fold(verdict.id) for verdict in judged if verdict.id is not None})


def _ties(candidate: Candidate) -> object:
    """What other capabilities have to do with it."""
    manifest = candidate.manifest
    return manifest.id, manifest.provides, manifest.permissions.adapters.capabilities, handler_name(manifest)


def _has_bytes(tree: Tree, file: SourceFile) -> bool:
    try:
        return tree.read(file.path, _FILE_BYTES).digest == file.digest
    except FileProblem:
        return False


def _gone() -> Diagnostic:
    return reading_diagnostic(
        "EVA-120",
        "the workspace folder is gone, or may not be read: nothing of it counts as changed until it is back",
        fix="Put the folder back where it was; it is read again by itself.",
    )


def _idle(others: Iterable[str], seen: Iterable[Seen]) -> tuple[str, ...]:
    named = {path for one in seen for path in (*one.snapshot.missing, *(f.path for f in one.snapshot.files.values()))}
    return tuple(path for path in others if path not in named)
