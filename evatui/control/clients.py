"""What is asked on behalf of MCP clients: who they are, what they see, and their calls. Runs on the kernel's loop.

Policy is looked at here, at every single request: what an earlier one was told gives a client nothing.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from evatui.control.client_prompts import described
from evatui.control.client_sessions import ClientSessions
from evatui.control.failing import CommandFailed
from evatui.control.params import Params, read_needed, read_number, read_text
from evatui.control.skill_context import ToldRevision, told_to_agents
from evatui.extensions.prompts.context import joined
from evatui.kernel.admission.policy import Policy
from evatui.kernel.model.call import Actor, CallerType, CallRequest
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.exposure import Exposed, Seen, Tool, exposed
from evatui.kernel.registry.table import Table
from evatui.runtime import Runtime

__all__ = ["LOCAL", "Clients"]

LOCAL = "local"
"""Whoever has the token that the runtime made by itself: that counts only while the policy names no principals."""

Answer = Awaitable[dict[str, Any]]
T = TypeVar("T")


class Clients:
    """``work`` has the commands by name."""

    def __init__(self, runtime: Runtime, sessions: ClientSessions) -> None:
        self.work: Mapping[str, Callable[[Params, Actor], Answer]] = {
            "mcp.identify": self._identify,
            "mcp.tools": self._tools,
            "mcp.call": self._call,
            "mcp.prompts": self._prompts,
            "mcp.prompt": self._prompt,
            "mcp.server": self._server,
            "mcp.leave": self._leave,
        }
        self._runtime = runtime
        self._sessions = sessions
        self._told = ToldRevision(runtime)
        self._known: tuple[Table, Policy | None, Exposed] | None = None

    @property
    def _exposed(self) -> Exposed:
        table, policy = self._runtime.table, self._runtime.policy
        if self._known is None or self._known[0] is not table or self._known[1] is not policy:
            self._known = (table, policy, exposed(table, policy))
        return self._known[2]

    async def _identify(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{principal, sees, named}``: whose token has this SHA-256, None where nobody's, and may they see anything;
        ``named`` are the SHA-256 of the tokens of all whom the policy names."""
        digest, principals = read_needed(params, "token_sha256").lower().encode(), self._exposed.principals
        same = [
            name
            for name, known in principals.items()
            if hmac.compare_digest(known["token_sha256"].lower().encode(), digest)
        ]
        name = same[0] if same else None
        sees = name is not None and bool(principals[name]["tools"] or principals[name].get("prompts"))
        return {"principal": name, "sees": sees, "named": [one["token_sha256"].lower() for one in principals.values()]}

    async def _tools(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{revision, tools, prompts}``; ``tools`` is None where ``known`` is the revision already. ``prompts`` is the
        revision of the prompts that it may ask for, and of what they say."""
        seen, prompts = self._seen(params), await self._revision(params)
        self._sessions.heard(params, _who(params, actor).id)
        if read_text(params, "known") == seen.revision:
            return {"revision": seen.revision, "tools": None, "prompts": prompts}
        tools = [tool.described for tool in seen.tools.values()]
        return {"revision": seen.revision, "tools": tools, "prompts": prompts}

    async def _call(self, params: Params, actor: Actor) -> dict[str, Any]:
        """The report of the call. Raises ``NotFound`` for a tool that there is not, or not for this client: alike."""
        caller, name = _who(params, actor), clean_line(read_needed(params, "tool"), 128)
        session = self._sessions.heard(params, caller.id)
        tool = self._seen(params).tools.get(name)
        if tool is None:
            self._runtime.registry.journal.write(
                Code.CALL_DENIED, Outcome.DENIED, caller, capability=name, error_kind=ErrorKind.POLICY_DENIED.value
            )
            raise CommandFailed(ErrorKind.NOT_FOUND, f"Unknown tool: {name}")
        report = await self._runtime.call(_request(params, caller, tool))
        self._sessions.called(session, name, failed=not report.response.ok)
        return report.to_json()

    async def _prompts(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{prompts: [{name, title, description}]}``, those that this client may ask for."""
        self._sessions.heard(params, _who(params, actor).id)
        return {"prompts": [described(name) for name in self._asked_for(params, self._exposed.prompts_of)]}

    async def _prompt(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{description, text}``. Raises ``NotFound`` for one that there is not, or not for this client: alike."""
        name = clean_line(read_needed(params, "name"), 128)
        self._sessions.heard(params, _who(params, actor).id)
        if name not in self._asked_for(params, self._exposed.prompts_of):
            raise CommandFailed(ErrorKind.NOT_FOUND, f"Unknown prompt: {name}")
        text = joined(await told_to_agents(self._runtime))
        return {"description": described(name)["description"], "text": text}

    async def _revision(self, params: Params) -> str:
        names = self._asked_for(params, self._exposed.prompts_of)
        return f"{' '.join(names)} {await self._told.now()}" if names else ""

    async def _leave(self, params: Params, actor: Actor) -> dict[str, Any]:
        """A client ended its session."""
        self._sessions.left(read_needed(params, "session"))
        return {}

    async def _server(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{tools, prompts, hidden, principals, sessions}`` of the server that MCP clients see."""
        found = self._exposed
        sees = {name: found.seen_by(name).tools for name in sorted(found.principals)}
        return {
            "tools": [
                {
                    "name": tool.name,
                    "tool": tool.called,
                    "provider": tool.provider or self._runtime.table.providers[tool.called][0],
                    "description": clean_line(str(tool.described["description"]), 400),
                    "principals": [name for name, tools in sees.items() if tool.name in tools],
                }
                for tool in found.tools.values()
            ],
            "prompts": list(found.prompts),
            "hidden": [asdict(one) for one in found.hidden],
            "principals": list(sees),
            "sessions": [asdict(row) for row in self._sessions.rows],
        }

    def _seen(self, params: Params) -> Seen:
        return self._asked_for(params, self._exposed.seen_by)

    def _asked_for(self, params: Params, of: Callable[[str | None], T]) -> T:
        """Raises ``PolicyDenied`` for a principal that the policy does not name, or no longer."""
        principal = read_text(params, "principal")
        if principal == LOCAL and not self._exposed.principals:
            principal = None
        try:
            return of(principal)
        except KeyError:
            raise CommandFailed(ErrorKind.POLICY_DENIED, "the policy names no such client") from None


def _who(params: Params, actor: Actor) -> Actor:
    """The client by its name in the policy; without one it is the operator's own."""
    return Actor(CallerType.MCP, clean_line(read_text(params, "principal") or actor.id, 128))


def _request(params: Params, caller: Actor, tool: Tool) -> CallRequest:
    return CallRequest(
        capability=tool.called,
        payload={} if params.get("arguments") is None else params["arguments"],
        caller=caller,
        provider=tool.provider,
        user=caller.id,
        timeout_ms=read_number(params, "timeout_ms"),
        request_id=params["request_id"],
    )
