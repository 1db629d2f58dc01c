"""A canary under any sequence of calls, pauses and hours: what it decides follows from its phase and its verdict."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import AnalysisSpec, CanarySpec, WithoutData
from evatui.kernel.registry.rollout.judge import Verdict
from evatui.kernel.registry.rollout.rollout import Decision, Phase, Rollout
from evatui.kernel.registry.rollout.tally import Sample

NEW, OLD = cast(Any, SimpleNamespace()), cast(Any, SimpleNamespace())


class Trying(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        analysis = AnalysisSpec(5, 60, 0.2, 600, WithoutData.ABORT)
        self.rollout = Rollout(NEW, CanarySpec(), analysis, "", self.now)
        self.ran = 0.0  # seconds of its time that have passed

    @rule(new=st.booleans(), fault=st.booleans())
    def call(self, new: bool, fault: bool) -> None:
        error = ErrorKind.HANDLER_ERROR if fault else None
        self.rollout.add(NEW if new else OLD, Sample(error, 1.0), self.now)

    @rule(seconds=st.floats(0, 300))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.ran += seconds if self.rollout.waits else 0.0

    @precondition(lambda self: self.rollout.waits)
    @rule()
    def pause(self) -> None:
        self.rollout.pause(self.now)

    @precondition(lambda self: not self.rollout.waits)
    @rule()
    def resume(self) -> None:
        if self.rollout.phase is Phase.HELD:
            self.ran = 0.0
        self.rollout.resume(self.now)
        self.ran = min(self.ran, 600.0)

    @rule()
    def hold(self) -> None:
        self.rollout.hold()

    @invariant()
    def it_decides_what_its_phase_and_verdict_say(self) -> None:
        verdict, decision = self.rollout.verdict(self.now), self.rollout.decide(self.now)
        if verdict is Verdict.FAIL:
            assert decision is Decision.ABORT
        elif not self.rollout.waits:
            assert decision is None
        elif verdict is Verdict.PASS:
            assert decision is Decision.PROMOTE
        elif abs(self.ran - 600) > 1e-6:
            assert decision is (Decision.ABORT if self.ran > 600 else None)


TestTrying = Trying.TestCase
TestTrying.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
