"""Where a capability is to run, by what it asks for, what the policy trusts and what the machine has."""

from __future__ import annotations

import pytest

from evatui.kernel.admission.grant import Grant
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.admission.weighing import Weighed, weigh
from evatui.kernel.model.change import ChangeClass
from evatui.kernel.model.manifest import Isolation
from evatui.kernel.model.sandbox import NO_SANDBOX, SandboxFacts
from evatui.kernel.workspace.layout import Layout
from tests.admission.harness import MANIFEST, POLICY, accepted, edited, judge, line_of, only

FULL = SandboxFacts(process=True, rlimits=True, landlock_abi=7, seccomp=True, missing=(), os_sandbox=True)
BARE = SandboxFacts(
    process=True, rlimits=True, landlock_abi=0, seccomp=False, missing=("seccomp", "Landlock"), os_sandbox=False
)
IN, OUT = Isolation.IN_PROCESS, Isolation.PROCESS
LENIENT = "isolation: {require_os_sandbox: false}\n"

# isolation, source, machine, what the policy says: where it runs, or the code and reason of the refusal
CASES = [
    ("auto", "project", NO_SANDBOX, "", IN),
    ("auto", "project", FULL, "", IN),
    ("auto", "user", FULL, "", OUT),
    ("auto", "user", BARE, "", OUT),
    ("auto", "user", NO_SANDBOX, "", ("EVA-416", "isolation_unavailable")),
    ("auto", "user", FULL, "trusted_sources: [user]\n", IN),
    ("auto", "project", FULL, "trusted_sources: [user]\n", OUT),
    ("auto", "third_party", FULL, "", OUT),
    ("auto", "third_party", BARE, "", ("EVA-415", "isolation_unavailable")),
    ("auto", "third_party", BARE, LENIENT, OUT),
    ("auto", "third_party", NO_SANDBOX, LENIENT, ("EVA-416", "isolation_unavailable")),
    ("auto", "unknown", FULL, "", OUT),
    ("auto", "unknown", BARE, "", ("EVA-415", "isolation_unavailable")),
    ("auto", "unknown", BARE, "trusted_sources: [unknown]\n", IN),
    ("process", "project", FULL, "", OUT),
    ("process", "project", BARE, "", OUT),
    ("process", "project", NO_SANDBOX, "", ("EVA-416", "isolation_unavailable")),
    ("process", "third_party", BARE, "", ("EVA-415", "isolation_unavailable")),
    ("process", "third_party", BARE, "trusted_sources: [third_party]\n", OUT),
    ("in_process", "project", NO_SANDBOX, "", IN),
    ("in_process", "user", FULL, "", ("EVA-414", "policy_denied")),
    ("in_process", "third_party", FULL, LENIENT, ("EVA-414", "policy_denied")),
    ("in_process", "third_party", FULL, "trusted_sources: [third_party]\n", IN),
]


def files(isolation: str, source: str, policy: str) -> dict[str, str]:
    found = edited(manifest=("isolation: auto", f"isolation: {isolation}"), policy=("[project]}", '"*"}'))
    found[MANIFEST] = found[MANIFEST].replace("{source: project}", f"{{source: {source}}}")
    found[POLICY] += policy
    return found


@pytest.mark.parametrize(("isolation", "source", "machine", "policy", "expected"), CASES)
def test_where_it_runs(
    layout: Layout, isolation: str, source: str, machine: SandboxFacts, policy: str, expected: object
) -> None:
    verdict = judge(files(isolation, source, policy), layout, sandbox=machine)
    if isinstance(verdict, Candidate):
        assert verdict.isolation is expected
    else:
        found = only(verdict)
        assert (found.code, found.reason.value) == expected


def test_to_run_without_an_os_sandbox_that_there_was_before_waits_for_approval_and_a_restart(layout: Layout) -> None:
    foreign = files("auto", "third_party", LENIENT)
    boxed, bare = (accepted(judge(foreign, layout, sandbox=facts)) for facts in (FULL, BARE))
    found = weighed(bare, Grant.of(boxed))
    assert found.change_class is ChangeClass.RESTART
    (cause,) = found.causes
    assert "without an OS sandbox" in cause.message
    assert cause.primary is not None
    assert cause.primary.line == line_of(foreign, MANIFEST, "trust:")
    for candidate, before in ((bare, bare), (boxed, bare), (boxed, boxed)):
        assert weighed(candidate, Grant.read(Grant.of(before).text())).change_class is ChangeClass.HOT


def weighed(candidate: Candidate, before: Grant) -> Weighed:
    return weigh(candidate, before, running=True, providers={}, document=lambda _: None)


def test_a_refusal_says_what_is_missing_and_what_to_do(layout: Layout) -> None:
    foreign = files("auto", "third_party", "")
    found = only(judge(foreign, layout, sandbox=BARE))
    assert found.primary is not None
    assert found.primary.line == line_of(foreign, MANIFEST, "trust:")
    assert "missing here: seccomp, Landlock" in found.rendered
    assert "eva doctor" in found.rendered
    asking = files("process", "project", "")
    found = only(judge(asking, layout, sandbox=NO_SANDBOX))
    assert found.primary is not None
    assert found.primary.line == line_of(asking, MANIFEST, "isolation: process")
    assert "Use isolation: auto" in found.rendered
