"""What is ordered of one capability, by name: each answers with a receipt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from evatui.control.params import Params, read_flag, read_needed, read_text
from evatui.kernel.model.call import Actor
from evatui.kernel.registry.receipt import Receipt
from evatui.runtime import Runtime

__all__ = ["orders"]

Order = Callable[[Params, Actor], Awaitable[dict[str, Any]]]


class _Guarded(Protocol):
    def __call__(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> Awaitable[Receipt]: ...


def orders(runtime: Runtime) -> Mapping[str, Order]:
    operations, rollouts, undoing = runtime.operations, runtime.rollouts, runtime.undoing

    def noted(work: Callable[[Params, Actor], Awaitable[Receipt]]) -> Order:
        """It can be undone, as long as it is the last one."""

        async def order(params: Params, actor: Actor) -> dict[str, Any]:
            hold = undoing.hold_of(read_needed(params, "id"))
            receipt = await work(params, actor)
            await undoing.note(receipt, hold)
            return receipt.to_json()

        return order

    def guarded(work: _Guarded) -> Order:
        return noted(lambda params, actor: work(read_needed(params, "id"), actor, read_text(params, "if_generation")))

    async def drain(params: Params, actor: Actor) -> dict[str, Any]:
        key, seen = read_needed(params, "id"), read_text(params, "if_generation")
        hold = undoing.hold_of(key)
        receipt = await operations.drain(key, actor, seen, force=read_flag(params, "force"))
        if receipt.source is not None:  # else it had been drained before, and that order is the one to undo
            await undoing.note(receipt, hold)
        return receipt.to_json()

    def rollback(params: Params, actor: Actor) -> Awaitable[Receipt]:
        to, seen = read_text(params, "to"), read_text(params, "if_generation")
        lose_state = read_flag(params, "lose_state")
        return operations.rollback(read_needed(params, "id"), actor, to, seen, lose_state=lose_state)

    async def undo(params: Params, actor: Actor) -> dict[str, Any]:
        return (await undoing.undo(read_needed(params, "id"), actor, read_text(params, "if_generation"))).to_json()

    async def undo_plan(params: Params, actor: Actor) -> dict[str, Any]:
        return await undoing.plan(read_needed(params, "id"), actor, read_text(params, "if_generation"))

    async def revoke(params: Params, actor: Actor) -> dict[str, Any]:
        found = await runtime.approvals.revoke(read_needed(params, "id"), read_needed(params, "digest"), actor)
        return found.to_json()

    return {
        "capability.drain": drain,
        "capability.disable": guarded(operations.disable),
        "capability.enable": guarded(operations.enable),
        "capability.rollback": noted(rollback),
        "capability.retry": guarded(operations.retry),
        "capability.promote": guarded(rollouts.promote),
        "capability.abort": guarded(rollouts.abort),
        "capability.pause": guarded(rollouts.pause),
        "capability.resume": guarded(rollouts.resume),
        "capability.undo": undo,
        "capability.undo_plan": undo_plan,
        "capability.revoke": revoke,
    }
