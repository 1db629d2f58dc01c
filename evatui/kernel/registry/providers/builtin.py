"""What the kernel itself answers: the transport ``builtin``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from evatui.kernel.host.ports import Invocation, NotSent, WayState
from evatui.kernel.model.adapter import KERNEL_PROVIDER, Adapter
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import SideEffects
from evatui.kernel.model.tools import ServerInfo

__all__ = ["BUILTIN", "Builtin"]

_PROVIDERS: Final = "runtime.providers"
BUILTIN = Adapter(
    KERNEL_PROVIDER, "builtin", (_PROVIDERS,), "", name="Kernel", version="1.0.0", side_effects=SideEffects.NONE
)


class Builtin:
    """``runtime.providers {}`` is ``{names: {name: [ids, the preferred one first]}}``: whoever may call it knows what
    there is, which is no right to call that."""

    server: ServerInfo | None = None
    state = WayState("up")

    def __init__(self, names: Callable[[], dict[str, list[str]]]) -> None:
        self._names = names

    def target(self, invocation: Invocation) -> str:
        return invocation.capability

    async def invoke(self, invocation: Invocation) -> Any:
        if invocation.payload != {}:
            raise NotSent(ErrorKind.INVALID_INPUT, f"{_PROVIDERS} takes an empty payload", retryable=False)
        return {"names": self._names()}

    async def probe(self) -> None:
        """It is always there."""

    def adjust(self, adapter: Adapter) -> None:
        """There is no other manifest."""

    def start(self) -> None:
        """It is always there."""

    async def close(self) -> None:
        """Nothing was started."""
