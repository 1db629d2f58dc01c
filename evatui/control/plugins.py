"""What may be asked about plugins: each name to its answer, from the disk as it is now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.params import Params, read_needed
from evatui.control.plugin_rows import listed_plugins
from evatui.extensions.plugins.catalogue import PluginCatalogue
from evatui.kernel.admission.report import nearest
from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.runtime import Runtime

__all__ = ["PluginQueries"]


class PluginQueries:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.answers: Mapping[str, Callable[[Params, Actor], Awaitable[dict[str, Any]]]] = {
            "plugin.list": self._list,
            "plugin.verify": self._verify,
        }

    async def _list(self, params: Params, actor: Actor) -> dict[str, Any]:
        await self._runtime.plugins_now()
        return listed_plugins(self._runtime)

    async def _verify(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{name, ok, signature, key, digest, location, diagnostics}``; a plugin that is refused has no digest."""
        wanted = read_needed(params, "name")
        known = await self._runtime.plugins_now()
        refused = next((one.found for one in known.refused if wanted in (one.found.name, one.found.location)), None)
        if refused is not None:
            return {
                "name": refused.name,
                "ok": False,
                "signature": "invalid",
                "key": "",
                "digest": None,
                "location": clean_line(refused.location),
                "diagnostics": [found.to_json() for found in refused.diagnostics],
            }
        found = known.named(wanted)
        if found is None:
            raise _unknown(wanted, known)
        return {
            "name": found.name,
            "ok": found.signed.value == "signed",
            "signature": found.signed.value,
            "key": found.plugin.seal.key,
            "digest": found.plugin.digest,
            "location": clean_line(found.plugin.location),
            "diagnostics": [one.to_json() for one in found.diagnostics],
        }


def _unknown(wanted: str, known: PluginCatalogue) -> CommandFailed:
    close = nearest(wanted[:200], [one.name for one in known.plugins])
    suggestion = f"did you mean {close}?" if close is not None else "eva plugin list"
    return CommandFailed(ErrorKind.NOT_FOUND, f"no plugin is called {clean_line(wanted, 128)}", suggestion=suggestion)
