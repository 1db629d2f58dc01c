"""The example calls of a version, run before it serves: its answers, and those of what serves now."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from evatui.kernel.admission.admit import examples_rejection
from evatui.kernel.admission.examples import Example, load_examples, mismatch
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.lua.engine import LoadedProgram
from evatui.kernel.model.call import Actor, CallerType, CallRequest, Response
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.diagnostic import Diagnostic, Level
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.model.ids import new_id
from evatui.kernel.model.manifest import ExamplesPolicy
from evatui.kernel.registry.example_writing import write_example
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.interpret import interpret
from evatui.kernel.registry.payload import admitted, handed
from evatui.kernel.registry.shadow import Shadow
from evatui.kernel.workspace.files import FileProblem, ProblemKind, SourceFile, Tree
from evatui.kernel.workspace.layout import Layout

__all__ = ["ExampleRun", "Examples", "Tried", "called_by"]

MAX_EXAMPLES: Final = 50
_MAX_BYTES: Final = 262_144
_CALLER: Final = Actor(CallerType.USER, "example")
ALL_SECONDS: Final = 10.0
"""Wall time of all examples of one version together."""


@dataclass(frozen=True, slots=True)
class ExampleRun:
    """``before`` is the answer of what served then, None where nothing did; ``problem`` is rendered."""

    example: Example
    after: Response
    before: Response | None
    problem: Diagnostic | None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.example.name,
            "path": self.example.path,
            "ok": self.problem is None,
            "problem": self.problem.message if self.problem else None,
            "changed": self.before is not None and _shown(self.before) != _shown(self.after),
            "before": _shown(self.before) if self.before else None,
            "after": _shown(self.after),
        }


@dataclass(frozen=True, slots=True)
class Tried:
    """``problems`` (rendered) are what is wrong with the files, and then with the answers."""

    runs: tuple[ExampleRun, ...] = ()
    problems: tuple[Diagnostic, ...] = ()

    def refusal(self, candidate: Candidate) -> Rejection | None:
        """Where the manifest requires its examples, and they fail."""
        if not self.problems or candidate.manifest.reload.examples is not ExamplesPolicy.REQUIRE:
            return None
        return examples_rejection(candidate, self.problems)


class Examples:
    """An example reads what its capability may read, and changes nothing: effects are refused as in a health check."""

    def __init__(self, shadow: Shadow, tree: Tree, layout: Layout, clock: Clock) -> None:
        self._shadow = shadow
        self._tree = tree
        self._layout = layout
        self._clock = clock

    def owner(self, path: str) -> str | None:
        """The id whose example ``path`` is."""
        folder, rest = f"{self._layout.manifests[0]}/examples/", path.split("/")
        return rest[-2] if path.startswith(folder) and len(rest) > 2 else None

    def write(self, capability_id: str, name: str, payload: Any) -> str:
        """A new one; returns the path of its file. Blocking. Raises as `write_example` does."""
        folder = f"{self._layout.manifests[0]}/examples/{capability_id}"
        return write_example(self._tree, folder, name, payload, _MAX_BYTES)

    def read(self, capability_id: str) -> tuple[tuple[Example, ...], tuple[Diagnostic, ...]]:
        """Blocking. Those of an id, by the names of their files, at most 50."""
        return load_examples(self._files(capability_id))

    def _files(self, capability_id: str) -> list[SourceFile | FileProblem]:
        folder = f"{self._layout.manifests[0]}/examples/{capability_id}"
        try:
            names = [entry.name for entry in self._tree.list(folder)]
        except FileProblem as problem:
            return [] if problem.kind is ProblemKind.MISSING else [problem]
        paths = [f"{folder}/{name}" for name in names if name.endswith((".yaml", ".yml"))]
        files = [self._file(path) for path in paths[:MAX_EXAMPLES]]
        if len(paths) > MAX_EXAMPLES:
            left = f"it is one of {len(paths) - MAX_EXAMPLES} beyond the {MAX_EXAMPLES} that are run"
            files.append(FileProblem(paths[MAX_EXAMPLES], ProblemKind.TOO_LARGE, left))
        return files

    def _file(self, path: str) -> SourceFile | FileProblem:
        try:
            return self._tree.read(path, _MAX_BYTES)
        except FileProblem as problem:
            return problem

    async def tried(self, candidate: Candidate, program: LoadedProgram, serving: Generation | None) -> Tried:
        """Every example on the candidate, and on what serves: both with the same grants, and no effects."""
        examples, problems = await asyncio.to_thread(self.read, candidate.id)
        if not examples and not problems:
            return Tried()
        required = candidate.manifest.reload.examples is ExamplesPolicy.REQUIRE
        level = Level.ERROR if required else Level.WARNING
        deadline = self._clock.monotonic() + ALL_SECONDS
        runs: list[ExampleRun] = []
        for example in examples:
            after = await self._answer(candidate, program, "candidate", example, deadline)
            before = await self._before(serving, example, deadline) if serving is not None else None
            runs.append(ExampleRun(example, after, before, mismatch(example, after, level=level)))
        wrong = tuple(run.problem for run in runs if run.problem is not None)
        return Tried(tuple(runs), (*problems, *wrong))

    async def _before(self, serving: Generation, example: Example, deadline: float) -> Response:
        serving.inside.enter()
        try:
            return await self._answer(serving.candidate, serving.program, serving.name.id, example, deadline)
        finally:
            serving.inside.leave()

    async def _answer(
        self, candidate: Candidate, program: LoadedProgram, generation: str, example: Example, deadline: float
    ) -> Response:
        request = _request(candidate, example)
        limits = candidate.manifest.limits
        until = min(deadline, self._clock.monotonic() + limits.timeout_ms / 1000)
        try:
            admitted(request, candidate)
            return await program.call(
                candidate.manifest.lua.entry,
                handed(
                    request,
                    provider=candidate.id,
                    generation=generation,
                    workspace=self._layout.name,
                    left_s=until - self._clock.monotonic(),
                ),
                deadline=until,
                host=self._shadow.bind(candidate, generation, until),
                host_calls=limits.host_calls,
                finish=lambda outcome: interpret(outcome, candidate),
            )
        except CallFailed as failed:
            return Response(False, error=failed.error)


def called_by(candidate: Candidate) -> str:
    """A name under which an operator reaches the capability."""
    manifest = candidate.manifest
    return (
        manifest.capabilities[0] if manifest.capabilities else manifest.mcp.tool_name if manifest.mcp else manifest.id
    )


def _request(candidate: Candidate, example: Example) -> CallRequest:
    return CallRequest(
        called_by(candidate),
        example.payload,
        _CALLER,
        user=example.user,
        tags=example.tags,
        request_id=new_id("example"),
        trace_id=new_id("trace"),
    )


def _shown(response: Response) -> dict[str, Any]:
    """What two answers are compared by: not where and when they were given."""
    error = response.error
    told = {"kind": error.kind.value, "message": error.message} if error else None
    return {"ok": response.ok, "result": response.result, "error": told}
