"""What a person lets happen: an approval of one version, and trust in what a workspace brings along."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evatui.control.params import Params, read_needed, read_text
from evatui.kernel.model.call import Actor
from evatui.runtime import Runtime

__all__ = ["Approving"]


class Approving:
    def __init__(self, runtime: Runtime) -> None:
        self._approvals = runtime.approvals
        self.work: Mapping[str, Callable[[Params, Actor], Awaitable[dict[str, Any]]]] = {
            "capability.approve": self._approve,
            "trust.show": self._trusted,
            "trust.give": self._trust,
            "trust.revoke": self._distrust,
        }

    async def _approve(self, params: Params, actor: Actor) -> dict[str, Any]:
        receipt = await self._approvals.approve(
            read_needed(params, "id"),
            read_needed(params, "digest"),
            actor,
            read_text(params, "if_generation"),
            read_text(params, "typed"),
        )
        return receipt.to_json()

    async def _trusted(self, params: Params, actor: Actor) -> dict[str, Any]:
        return self._approvals.trusted()

    async def _trust(self, params: Params, actor: Actor) -> dict[str, Any]:
        return await self._approvals.trust(actor, read_text(params, "digest"))

    async def _distrust(self, params: Params, actor: Actor) -> dict[str, Any]:
        return await self._approvals.distrust(actor)
