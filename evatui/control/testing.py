"""A capability's examples as calls like any other: with its grants, its effects and its audit records."""

from __future__ import annotations

import asyncio
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.naming import known
from evatui.control.params import Params, read_needed
from evatui.kernel.admission.examples import Example, mismatch
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.call import Actor, CallRequest
from evatui.kernel.model.diagnostic import Level
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.examples import called_by
from evatui.runtime import Runtime

__all__ = ["kept_example", "tested"]


async def kept_example(runtime: Runtime, params: Params) -> dict[str, Any]:
    """``{id, name, path}``: a file that was not there before."""
    key, name = known(runtime, read_needed(params, "id")).id, read_needed(params, "name")
    path = await asyncio.to_thread(runtime.examples.write, key, name, params.get("payload", {}))
    return {"id": key, "name": name, "path": path}


async def tested(runtime: Runtime, wanted: Capability | None, actor: Actor) -> dict[str, Any]:
    """``{passed, failed, capabilities: [{id, generation, examples: [{name, path, ok, problem, response}],
    diagnostics}]}``, one call after the other.

    Raises `CommandFailed` ``Unavailable`` where the one that is wanted serves nothing.
    """
    if wanted is not None and wanted.active is None:
        raise CommandFailed(ErrorKind.UNAVAILABLE, f"{wanted.id} serves nothing: it is {wanted.state}")
    serving = [wanted] if wanted else [one for one in runtime.registry.capabilities.values() if one.active]
    rows = [await _tested(runtime, one, actor) for one in sorted(serving, key=lambda one: one.id)]
    outcomes = [example["ok"] for row in rows for example in row["examples"]]
    broken = sum(len(row["diagnostics"]) for row in rows)
    return {"passed": outcomes.count(True), "failed": outcomes.count(False) + broken, "capabilities": rows}


async def _tested(runtime: Runtime, capability: Capability, actor: Actor) -> dict[str, Any]:
    examples, problems = await asyncio.to_thread(runtime.examples.read, capability.id)
    active = capability.active
    runs = [await _run(runtime, active.candidate, example, actor) for example in examples] if active else []
    return {
        "id": capability.id,
        "generation": active.name.id if active else None,
        "examples": runs,
        "diagnostics": [found.to_json() for found in problems],
    }


async def _run(runtime: Runtime, candidate: Candidate, example: Example, actor: Actor) -> dict[str, Any]:
    name = called_by(candidate)
    request = CallRequest(name, example.payload, actor, provider=candidate.id, user=example.user, tags=example.tags)
    response = (await runtime.call(request)).response
    problem = mismatch(example, response, level=Level.ERROR)
    return {
        "name": example.name,
        "path": example.path,
        "ok": problem is None,
        "problem": problem.to_json() if problem else None,
        "response": response.to_json(),
    }
