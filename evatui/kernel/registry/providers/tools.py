"""What a person sees and decides of outside MCP servers: what there is, what it offers, which tools may be called."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Iterable
from typing import Any

from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.tools import ToolInfo, ToolState
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.providers.provider import Provider
from evatui.kernel.registry.providers.providers import Providers
from evatui.kernel.registry.providers.reaching import endpoint

__all__ = ["Tools", "digest_of"]

_WAITING = (ToolState.NEW, ToolState.CHANGED)


def digest_of(tools: Iterable[ToolInfo]) -> str:
    """Of what waits for approval, as a whole: to approve no other list than the one that was seen."""
    text = "\n".join(f"{tool.name} {tool.digest}" for tool in tools if tool.state in _WAITING)
    return hashlib.sha256(text.encode()).hexdigest()


class Tools:
    def __init__(self, providers: Providers, journal: Journal) -> None:
        self._providers = providers
        self._journal = journal

    def servers(self) -> list[dict[str, Any]]:
        """Every MCP server of the manifests: ``[{server, state, detail, address, protocol, title, version, note,
        listed_at, waiting, digest, calls, errors, in_flight, tools: [{name, shown, state, description, digest, why,
        diff}]}]``; ``state`` is ``held``, ``disabled`` or ``denied`` too."""
        return [self._told(adapter.id) for adapter in self._providers.declared if adapter.transport == "mcp"]

    async def probe(self, server: str) -> dict[str, Any]:
        """Connects where that is not so yet, and lists what it offers. Raises `CallFailed`."""
        provider = self._provider(server)
        await provider.way.probe()
        return self._told(server)

    async def approve(
        self,
        server: str,
        names: Collection[str],
        actor: Actor,
        expected: str | None = None,
        typed: str | None = None,
    ) -> dict[str, Any]:
        """Lets tools be called as they are now: ``names``, or all that wait. Asks the server where it was not yet.

        ``expected`` is the ``digest`` of what somebody saw. Raises `CallFailed`: ``Conflict`` where that moved,
        ``NotFound`` for a name that waits for nothing; ``PolicyDenied`` where the policy gives this to nobody, or to
        the console, where ``typed`` is the id of the server.
        """
        provider = self._provider(server)
        refusal = self._refusal(server, actor, typed)
        if refusal:
            raise failure(ErrorKind.POLICY_DENIED, refusal)
        info = provider.way.server
        if info is None or not info.listed_at:
            await provider.way.probe()
            info = provider.way.server
        assert info is not None  # `_provider` lets nothing else pass
        if expected is not None and expected != digest_of(info.tools):
            raise failure(ErrorKind.CONFLICT, f"what waits for approval of {server} has changed since you looked")
        waiting = {tool.name: tool for tool in info.waiting}
        bare = [name.removeprefix(f"{server}__") for name in names]
        unknown = next((name for name in bare if name not in waiting), None)
        if unknown is not None:
            raise failure(ErrorKind.NOT_FOUND, f"no tool {clean_line(unknown, 128)} of {server} waits for approval")
        chosen = [waiting[name] for name in bare] if names else list(waiting.values())
        definitions = [tool.definition for tool in chosen if tool.definition is not None]
        who = actor.id or actor.type.value
        book, place = self._providers.book, endpoint(provider.adapter)
        await asyncio.to_thread(book.approve, server, place, definitions, who, self._journal.at())
        told = {tool.name: tool.digest for tool in definitions}
        self._write(Code.MCP_APPROVED, server, actor, told)
        self._providers.news.server(server, "approved", {"tools": sorted(told)})
        return {**self._told(server), "approved": [tool.shown for tool in chosen]}

    async def revoke(self, server: str, names: Collection[str], actor: Actor) -> dict[str, Any]:
        """Takes approvals back, of ``names`` or of all. Raises `CallFailed` ``NotFound``."""
        provider = self._provider(server)
        book, place = self._providers.book, endpoint(provider.adapter)
        known = book.of(server, place)
        bare = [name.removeprefix(f"{server}__") for name in names] or list(known)
        unknown = next((name for name in bare if name not in known), None)
        if unknown is not None:
            raise failure(ErrorKind.NOT_FOUND, f"no tool {clean_line(unknown, 128)} of {server} is approved")
        told = {name: known[name].digest for name in bare}
        await asyncio.to_thread(book.forget, server, place, bare)
        self._write(Code.MCP_REVOKED, server, actor, told)
        self._providers.news.server(server, "revoked", {"tools": sorted(told)})
        return {**self._told(server), "revoked": sorted(bare)}

    def _refusal(self, server: str, actor: Actor, typed: str | None) -> str:
        who = self._providers.approver
        if who == "never":
            return "the policy allows no approval (approvals: {widening: never})"
        if who == "console" and not (actor.type is CallerType.USER and typed == server):
            return "it is approved at the console, by typing the id (approvals: {widening: console})"
        return ""

    def _write(self, code: Code, server: str, actor: Actor, told: dict[str, str]) -> None:
        self._journal.write(code, Outcome.OK, actor, capability_id=server, tools=told)

    def _provider(self, server: str) -> Provider:
        found = self._providers.serving.get(server)
        if found is not None and found.adapter.transport == "mcp":
            return found
        declared = next((one for one in self._providers.declared if one.id == server), None)
        if declared is None or declared.transport != "mcp":
            raise failure(ErrorKind.NOT_FOUND, f"no MCP server with the id {clean_line(server, 128)}")
        raise self._providers.why_not(declared, "its tools")

    def _told(self, server: str) -> dict[str, Any]:
        adapter = next(one for one in self._providers.declared if one.id == server)
        provider = self._providers.serving.get(server)
        info = provider.way.server if provider is not None else None
        state, detail = self._providers.standing(adapter)
        return {
            "server": server,
            "state": state,
            "detail": detail,
            "address": info.address if info else "",
            "protocol": info.protocol if info else "",
            "title": info.title if info else "",
            "version": info.version if info else "",
            "note": info.note if info else "",
            "listed_at": (info.listed_at or None) if info else None,
            "waiting": len(info.waiting) if info else 0,
            "digest": digest_of(info.tools) if info else None,
            "calls": provider.calls if provider else 0,
            "errors": provider.errors if provider else 0,
            "in_flight": provider.in_flight if provider else 0,
            "tools": [_tool(tool) for tool in info.tools] if info else [],
        }


def _tool(tool: ToolInfo) -> dict[str, Any]:
    return {
        "name": tool.name,
        "shown": tool.shown,
        "state": tool.state.value,
        "description": tool.description,
        "digest": tool.digest,
        "why": tool.why,
        "diff": list(tool.diff),
    }
