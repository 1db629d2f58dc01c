"""Every topic that the kernel emits to: who emits it, what it means, and which fields its payload has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["TOPICS", "Topic", "misfit"]


@dataclass(frozen=True, slots=True)
class Topic:
    """A payload has each of the fields of ``payload``, and no other."""

    name: str
    by: str
    meaning: str
    payload: tuple[str, ...]


_DEVICE = ("device_key", "logical_id", "bus", "simulated")

_ROWS: tuple[tuple[str, str, tuple[str, ...], Mapping[str, tuple[str, ...]]], ...] = (
    (
        "/capability",
        "registry",
        ("id", "generation", "from_generation", "state", "reason", "diagnostics"),
        {
            "loading": ("A version was found and is being tried; it has no generation yet.", "digest"),
            "loaded": ("It serves.",),
            "reloaded": ("The version before it is gone, and its memory free.", "published_at", "cut", "cut_calls"),
            "reload_failed": ("A version was refused; the one before it goes on.", "digest"),
            "rejected": ("A version was refused, and none serves.", "digest"),
            "approval_required": ("A sound version waits for approval, for trust, or for the next start.",),
            "draining": ("A generation takes no new calls; those under way go on.",),
            "unregistered": ("It is gone.",),
            "health_changed": ("The health check of what serves fails by now, or holds again.",),
            "rolled_back": ("An earlier version serves again: by order, or since the one after it failed.", "cause"),
            "rollback_failed": ("It should have been rolled back, and could not be.", "cause"),
            "demoted": ("It had to be stopped too often, and runs in a process of its own from now on.", "strikes"),
            "demotion_failed": ("It should run in a process of its own, and there is none to be had.", "strikes"),
            "canary_started": ("A version is tried with a part of the calls.",),
            "canary_promoted": ("It serves everybody.",),
            "canary_aborted": ("It serves nobody any more.",),
            "canary_paused": ("Its deadline stands still; it keeps its part of the calls.",),
            "canary_resumed": ("It goes on.",),
            "canary_held": ("Its time passed without a verdict: a person is to decide.",),
        },
    ),
    (
        "/hardware/device",
        "hardware",
        (*_DEVICE, "device_gen", "state", "cause", "at"),
        {
            "discovered": ("It was plugged in less than a moment ago.",),
            "settled": ("It is there, and what it is will be judged now.",),
            "authorized": ("It may be used.",),
            "quarantined": ("Nobody knows it: it is listed, and nothing more.",),
            "ambiguous": ("It may be another device than it seems; which one is for a person to say.",),
            "identity_conflict": ("Another device says that it is the same one.",),
            "denied": ("The policy denies it.",),
            "no_access": ("The operating system would not let this process open it.",),
            "disabled": ("It is switched off.",),
            "online": ("It is open, and answers.",),
            "degraded": ("It is open, and does not answer as it should.",),
            "offline": ("It went away, and is expected back.",),
            "reattached": ("It was plugged in anew.",),
            "removed": ("It is gone.",),
            "error": ("It could not be opened, or did not do what its manifest says.", "kind"),
            "data": ("It has answered. Told ten times a second at most.", "capability", "size", "sha8"),
        },
    ),
    (
        "/hardware/lease",
        "hardware",
        ("lease_id", "owner"),
        {
            "granted": ("An operator has the device.", *_DEVICE, "epoch", "device_gen", "cause"),
            "released": ("They gave it back.", *_DEVICE, "epoch", "device_gen", "cause"),
            "revoked": ("It was taken from them, or went away.", *_DEVICE, "epoch", "device_gen", "cause"),
            "expired": ("It did not come back to whom it belonged.", *_DEVICE, "epoch", "device_gen", "cause"),
            "orphaned": ("The last runtime died while an operator had the device.", "device_key", "at"),
        },
    ),
    (
        "/hardware/command",
        "hardware",
        (*_DEVICE, "capability", "request_id", "cause"),
        {
            "accepted": ("A command waits for its turn at the device.",),
            "completed": ("The device has answered a command.",),
            "failed": ("A command failed before anything was sent.",),
            "unknown": ("A command failed after something was sent: nobody knows what came of it.",),
            "cancelled": ("Whoever asked for it has given it up: what it did is not known.",),
        },
    ),
    (
        "/hardware/source",
        "hardware",
        ("source", "cause"),
        {"failed": ("Devices of this kind cannot be looked for.",), "ok": ("They can be again.",)},
    ),
    (
        "/adapter",
        "adapters",
        ("id", "transport"),
        {
            "loaded": ("It serves.",),
            "unregistered": ("It serves no more.", "reason"),
            "held": ("It waits for trust in the workspace, or for the next start.", "reason", "diagnostics"),
            "circuit_opened": ("It failed too often: its calls are refused for a while.", "cause"),
            "circuit_closed": ("It answers again.", "cause"),
        },
    ),
    (
        "/mcp",
        "MCP adapters",
        ("server",),
        {
            "up": ("The server answers.", "protocol"),
            "down": ("It ended, or cannot be reached.", "cause"),
            "tools_changed": (
                "It has other tools than before; `waiting` of them are held.",
                "tools",
                "waiting",
                "note",
            ),
            "quarantined": ("Tools are new, or not what was approved, and are not called.", "tools"),
            "asked": ("In the middle of a call it asked for something, and was answered so.", "message", "answer"),
            "approved": ("Somebody lets tools be called as they are by now.", "tools"),
            "revoked": ("Somebody took that back.", "tools"),
        },
    ),
    (
        "/skill",
        "skills",
        ("added", "changed", "removed", "rejected"),
        {"changed": ("Skills came, changed or went, or are refused by now.",)},
    ),
    (
        "/plugin",
        "plugins",
        (),
        {
            "changed": ("Plugins came, changed or went, or are refused.", "added", "changed", "removed", "rejected"),
            "hook_disabled": (
                "A hook failed too often: it is not run any more.",
                "plugin",
                "event",
                "command",
                "cause",
            ),
            "progress": ("How far a tool has come.", "capability", "request_id", "task", "done", "total", "message"),
        },
    ),
    (
        "/plugin",
        "plugins",
        ("task", "plugin", "version", "tool", "request_id", "state", "progress", "result", "error"),
        {
            "started": ("A tool runs in the background; the call that began it is answered.",),
            "finished": ("It has ended, well or not.",),
        },
    ),
    (
        "/audit",
        "audit log",
        ("detail", "since"),
        {
            "unavailable": ("Records cannot be written: calls are refused.",),
            "damaged": ("Somebody changed the files; the chain runs on in a new one.",),
            "unsealed": ("The head cannot be signed; calls go on.",),
            "recovered": ("All is well again.",),
        },
    ),
    (
        "/runtime",
        "runtime",
        (),
        {
            "started": ("It serves.", "workspace", "mode"),
            "stopped": ("It has ended.", "cut", "at"),
            "restarting": ("By order: calls under way are waited for.", "calls"),
            "restarted": (
                "It serves again.",
                "applied",
                "waiting",
                "settings",
                "cut",
                "duration_ms",
            ),
            "restart_failed": ("It stopped, and could not be built again.", "cause"),
            "frozen": ("By order: what changes by itself waits until it is thawed.",),
            "thawed": ("What waited is looked at.",),
            "damaged": ("The lock or the state database was deleted or replaced, and made again.", "cause"),
            "lost": ("Another runtime holds the workspace: this one ends.", "cause"),
            "operator_dropped": ("An operator who did not read was hung up on.", "cause"),
            "defect": ("A part of the kernel itself failed, and goes on.", "where", "error"),
        },
    ),
    (
        "/runtime",
        "handlers",
        ("id", "generation", "request_id"),
        {
            "log": ("What a handler logs with `ctx.host.log`.", "level", "fields"),
            "progress": ("How far it says it has come, with `ctx.host.progress`.", "done", "total", "message"),
        },
    ),
)

TOPICS: Mapping[str, Topic] = MappingProxyType(
    {
        f"{root}/{word}": Topic(f"{root}/{word}", by, meaning, (*common, *more))
        for root, by, common, topics in _ROWS
        for word, (meaning, *more) in topics.items()
    }
)


def misfit(topic: str, payload: Iterable[str]) -> str:
    """Why an event of the kernel with the fields ``payload`` is not as the table has it; empty where it is."""
    known = TOPICS.get(topic)
    if known is None:
        return f"{topic} is not in the table of topics"
    if wrong := set(payload) ^ set(known.payload):
        return f"{topic} has other fields than the table of topics says: {', '.join(sorted(wrong))}"
    return ""
