"""The table of commands and queries: what there is to ask, and how dangerous it is.

One table for the console's keys, the ``eva`` words and the socket, so that none of them can do
what the others do not name; ``--readonly`` refuses by this table too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

__all__ = ["COMMANDS", "Command", "Danger", "is_followed", "is_tied"]

_CALLS = frozenset({"capability.call", "capability.test", "mcp.call"})
"""They end with whoever asked."""


class Danger(IntEnum):
    """How a person must confirm."""

    FREE = 0
    PLAN = 1
    DIALOG = 2
    TYPED = 3


@dataclass(frozen=True, slots=True)
class Command:
    """``needs_runtime``: refused where no runtime holds the workspace, since it would change nothing."""

    name: str
    summary: str
    danger: Danger = Danger.FREE
    needs_runtime: bool = False
    effects: bool = False
    """Runs a handler or writes rows; refused by a read-only operator."""
    followed: bool = False
    """Answers what came after an earlier answer; to be asked again whenever `Operator.on_change` says so."""
    tied: bool = False
    """It ends with whoever waits for it, even where the operator stays."""

    @property
    def order(self) -> bool:
        """It changes something: once sent it goes on to its end, whatever becomes of who sent it."""
        return self.name not in _CALLS and (self.effects or self.danger is not Danger.FREE)

    @property
    def guarded(self) -> bool:
        """It takes ``if_generation``: refused where the capability serves another one by now."""
        return self.order and self.name.startswith(("capability.", "state."))


_ALL = (
    Command("status", "What holds the workspace, counts, health of watch and audit"),
    Command("doctor", "Is this machine fit to run the workspace: sandbox, limits, permissions, libraries"),
    Command("capability.list", "Every capability with its state"),
    Command("capability.inspect", "One capability: manifest, permissions, generations, limits"),
    Command("capability.render", "A manifest as it is understood, with the origin of each value"),
    Command("capability.health", "Run the health check of the active generation"),
    Command("capability.call", "Call a capability", effects=True),
    Command("capability.diff", "What changed between two generations, or from one to what the disk holds"),
    Command("capability.graph", "Who calls whom, in which order, and who would miss whom"),
    Command("capability.history", "Every generation of a capability, and which can be gone back to"),
    Command("call.cancel", "End a call, all of a generation, or a tool in the background", Danger.PLAN, True, True),
    Command("capability.test", "Run the examples of a capability, or of all", effects=True),
    Command("capability.validate", "Does a payload fit the input schema; nothing is called"),
    Command("capability.keep_example", "Write a payload as an example of a capability", Danger.PLAN, effects=True),
    Command("capability.plan", "What a reload would change; nothing is switched"),
    Command("capability.reload", "Read the disk again and publish what is sound", Danger.PLAN, True, True),
    Command("capability.explain_rejected", "Why a manifest was refused"),
    Command("capability.drain", "Take no new calls, let the running ones end", Danger.DIALOG, True, True),
    Command("capability.disable", "Switch a capability off", Danger.DIALOG, effects=True),
    Command("capability.enable", "Lift a drain, a disable or a demotion", Danger.PLAN, effects=True),
    Command("capability.rollback", "Serve an earlier generation again", Danger.DIALOG, True, True),
    Command("capability.retry", "Try again what the disk holds, quarantined or not", Danger.PLAN, effects=True),
    Command("capability.promote", "Let the canary take all calls", Danger.DIALOG, True, True),
    Command("capability.abort", "Take the canary back, and do not try it again", Danger.DIALOG, True, True),
    Command("capability.pause", "Let the time of the canary stand still", Danger.DIALOG, True, True),
    Command("capability.resume", "Let the time of the canary go on", Danger.PLAN, True, True),
    Command("capability.undo", "Undo what was ordered last", Danger.PLAN, True, True),
    Command("capability.undo_plan", "What an undo would take back, and how; nothing is changed"),
    Command("capability.route", "Who would answer a call, on which generation, and why"),
    Command("capability.approve", "Let a version that waits go into service", Danger.TYPED, effects=True),
    Command("capability.revoke", "Forget an approval that has not taken effect", Danger.PLAN, effects=True),
    Command("trust.show", "What in the workspace starts processes, connects or uses secrets; is it trusted"),
    Command("trust.give", "Trust the workspace with all of that", Danger.DIALOG, effects=True),
    Command("trust.revoke", "Trust the workspace with nothing of it any more", Danger.DIALOG, effects=True),
    Command("runtime.restart", "Let calls end, build the runtime anew, apply what waited", Danger.DIALOG, True, True),
    Command("runtime.freeze", "What changes by itself waits: files, canaries", Danger.PLAN, True, True),
    Command("runtime.thaw", "Publish what has waited, and go on", Danger.DIALOG, True, True),
    Command("state.list", "What capabilities have stored: keys, versions, bytes, schemas"),
    Command("state.get", "A stored value"),
    Command(
        "state.delete",
        "Delete what a capability has stored under a key, or all of it",
        Danger.TYPED,
        effects=True,
    ),
    Command("hardware.list", "Every device: who it is, its state, and why it may not be used"),
    Command("hardware.inspect", "One device: identity, when it was plugged in, what the policy says"),
    Command("hardware.rescan", "Look for devices now"),
    Command("hardware.plan", "What whoever wants to use a device would meet; nothing is opened"),
    Command("hardware.claim", "Have a device to yourself, until you release it", Danger.DIALOG, True, True),
    Command(
        "hardware.release", "Let go of a device, or with force take it from whoever has it", Danger.DIALOG, True, True
    ),
    Command("hardware.monitor", "What is said to a device and by it; nothing is opened for that", followed=True),
    Command("hardware.log", "Write what is said to a device and by it to a file", Danger.PLAN, True, True),
    Command("hardware.simulate", "Script what a simulated device does wrong", Danger.PLAN, True, True),
    Command("hardware.bind", "Say which device a logical name means", Danger.DIALOG, effects=True),
    Command("skill.list", "The skills of all layers: which can be used, what each keeps from sight"),
    Command("skill.show", "One skill: its fields, its text, its other copies"),
    Command("skill.index", "The index of skills, in XML, as an agent's prompt gets it"),
    Command("skill.context", "All that agents are told of skills: the index, and what is always wanted"),
    Command("skill.doctor", "Layers of skills, what is refused, what is missing, and what to do"),
    Command("plugin.list", "The plugins of all layers: signature, tools, what is missing, what runs in the background"),
    Command("plugin.verify", "Is a plugin signed by somebody whom the policy lists, and every file as it was signed"),
    Command("why", "How a capability, a generation or a request came to be as it is, and what to do"),
    Command("audit.tail", "The newest audit records", followed=True),
    Command("audit.query", "The audit records that match, by capability, generation, request, actor, code, time"),
    Command("audit.verify", "Is every audit record the one that was written, and in its place"),
    Command("events", "The newest events, or those since a sequence number", followed=True),
    Command("mcp.identify", "Which MCP client a token is that of"),
    Command("mcp.tools", "What an MCP client may see, where that has changed", followed=True),
    Command("mcp.call", "Call a tool on behalf of an MCP client", effects=True, tied=True),
    Command("mcp.prompts", "The prompts that an MCP client may ask for"),
    Command("mcp.prompt", "The text of a prompt, for an MCP client"),
    Command("mcp.leave", "An MCP client has ended its session"),
    Command("mcp.server", "What MCP clients may see, and who of them is connected"),
    Command("mcp.servers", "Other people's MCP servers: their state, and what was approved of their tools"),
    Command("mcp.probe", "Connect to an MCP server, and list what it offers", effects=True),
    Command("mcp.approve", "Let tools of an MCP server be called as they are now", Danger.TYPED, effects=True),
    Command("mcp.revoke", "Take the approval of tools of an MCP server back", Danger.PLAN, effects=True),
    Command("metrics", "Counts of calls, errors, loads and host calls, as Prometheus reads them"),
)

COMMANDS: Mapping[str, Command] = MappingProxyType({command.name: command for command in _ALL})


def is_followed(name: str) -> bool:
    return name in COMMANDS and COMMANDS[name].followed


def is_tied(name: str) -> bool:
    return name in COMMANDS and COMMANDS[name].tied
