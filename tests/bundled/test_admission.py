"""Every bundled capability is admitted without a remark, and granted what it asks for and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from evatui.kernel.admission.admit import admit
from evatui.kernel.admission.policy import Policy, load_policy
from evatui.kernel.admission.verdict import Candidate, Verdict
from evatui.kernel.model.permissions import Adapters, Files, Permissions
from evatui.kernel.workspace.discover import discover
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import open_layout
from evatui.kernel.workspace.snapshot import take_snapshot
from tests.bundled.harness import ROOT

READS = {"config-validate", "repo-summary", "project-summary", "agent-explain", "config-inspect", "config-lint"}
ASKS = {
    "config-lint": Adapters(capabilities=("config.validate_project",)),
    "project-summary": Adapters(capabilities=("repo.summary", "config.validate_project")),
    "scale-report": Adapters(capabilities=("scale.weight.read",), providers=("scale-main",)),
}


@pytest.fixture(scope="module")
def tree() -> Iterator[Tree]:
    tree = Tree(ROOT)
    yield tree
    tree.close()


@pytest.fixture(scope="module")
def policy(tree: Tree) -> Policy:
    files = [tree.read(path, 1 << 20) for path in discover(tree, open_layout(ROOT)).policies]
    result = load_policy(files, None)
    assert result.diagnostics == ()
    return result.policy


@pytest.fixture(scope="module")
def verdicts(tree: Tree, policy: Policy) -> list[Verdict]:
    layout = open_layout(ROOT)
    paths = discover(tree, layout).manifests
    return [admit(take_snapshot(tree, layout, path), layout=layout, policy=policy) for path in paths]


def test_all_are_admitted_without_a_remark(verdicts: list[Verdict]) -> None:
    assert {verdict.id for verdict in verdicts} >= {*READS, "topic-normalize", "prompt-compose"}
    for verdict in verdicts:
        assert isinstance(verdict, Candidate), verdict.diagnostics[0].rendered
        assert verdict.warnings == ()


def test_only_those_that_look_at_files_may_read_them(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        assert isinstance(verdict, Candidate)
        wanted = Permissions(fs=Files(read=("workspace",))) if verdict.id in READS else Permissions()
        wanted = replace(wanted, adapters=ASKS.get(verdict.id, wanted.adapters))
        assert verdict.permissions == wanted


def test_the_policy_grants_nothing_that_nobody_asks_for(verdicts: list[Verdict], policy: Policy) -> None:
    for verdict in verdicts:
        assert isinstance(verdict, Candidate)
        assert policy.granted(verdict.manifest).permissions == verdict.manifest.permissions
