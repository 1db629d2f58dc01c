"""Where an adapter leads and what it may do there: what trust is about, and how one manifest differs from another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from evatui.kernel.admission.policy import Policy
from evatui.kernel.model.adapter import Adapter, secrets_of
from evatui.kernel.model.change import ChangeClass
from evatui.kernel.registry.trust import Part

__all__ = ["begins_anew", "change_class", "endpoint", "part_of_adapter"]

_ENDPOINT = (
    "server",
    "command",
    "cwd",
    "env",
    "url",
    "method",
    "headers",
    "allow_loopback",
    "request_topic",
    "reply_topic",
    "bus",
    "match",
    "identity",
    "driver",
)
_LISTS = ("tools", "resources", "prompts")


def endpoint(adapter: Adapter) -> str:
    """Equal for manifests that lead to the same place in the same way; a digest."""
    way = {name: adapter.block[name] for name in _ENDPOINT if adapter.block.get(name)}
    return hashlib.sha256(json.dumps([adapter.transport, way], sort_keys=True).encode()).hexdigest()


def part_of_adapter(adapter: Adapter, policy: Policy) -> Part | None:
    """What a person is asked to trust; None for one that starts nothing, connects to nothing and has no secret."""
    block = adapter.block
    power: dict[str, Any] = {}
    if block.get("command"):
        power["shell"] = {"commands": [list(block["command"])]}
    if block.get("cwd"):
        power["in"] = block["cwd"]
    if block.get("url"):
        power["network"] = {"hosts": [urlsplit(block["url"]).hostname or ""], "methods": [block.get("method", "POST")]}
        power["url"] = block["url"]
    if adapter.transport == "hardware" and block["bus"] != "sim":
        shown = {name: said for name, said in block["match"].items() if said}
        power["devices"] = {block["identity"]["logical_name"]: {"bus": block["bus"], **shown}}
    power |= block.get("asks") or {}
    secrets = secrets_of(block)
    if secrets:
        power["env"] = list(secrets)
        used = {name: dict(policy.credentials[name]) for name in secrets if name in policy.credentials}
        power |= {"credentials": used} if used else {}
    if not power:
        return None
    if block.get("headers"):
        power["headers"] = {name: header["credential"] for name, header in block["headers"].items()}
    if block.get("allow_loopback"):
        power["this machine"] = "allowed"
    if block.get("elicitation") == "defaults":
        power["questions"] = "answered with their own defaults"
    power["transport"] = adapter.transport
    power["provides"] = list(adapter.capabilities)
    power |= {name: list(block[name]) for name in _LISTS if block.get(name)}
    if adapter.aliases:
        power["aliases"] = {name: dict(alias) for name, alias in adapter.aliases.items()}
    told = [endpoint(adapter), power, block["files"]] if "files" in block else [endpoint(adapter), power]
    text = json.dumps(told, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Part(f"adapter {adapter.id}", digest, power, block.get("files") or {adapter.path: adapter.digest})


def change_class(before: Adapter, after: Adapter) -> ChangeClass:
    """Another place is for the next start; more of the same place needs a person; all else is done at once."""
    asks = "asks" in before.block and "asks" in after.block
    if not (asks and after.transport == "plugin") and endpoint(before) != endpoint(after):
        return ChangeClass.RESTART
    if asks:
        return ChangeClass.APPROVAL if _asks_more(before.block, after.block) else ChangeClass.HOT
    wider = not set(after.capabilities) <= set(before.capabilities)
    for name in _LISTS:
        wider = wider or not set(after.block.get(name) or ()) <= set(before.block.get(name) or ())
    old: Mapping[str, Any] = before.aliases
    wider = wider or any(old.get(name) != alias for name, alias in after.aliases.items())
    wider = wider or (after.block.get("elicitation") == "defaults" != before.block.get("elicitation"))
    return ChangeClass.APPROVAL if wider else ChangeClass.HOT


def begins_anew(before: Adapter, after: Adapter) -> bool:
    """Is what stays running a program of the workspace's own, and another one by now?"""
    stays = before.transport == after.transport == "mcp" and "plugin" in after.block
    return stays and before.digest != after.digest


def _asks_more(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Of a program of the workspace's own: does it get, or reach, what it did not?"""
    network = after["asks"].get("network") and not before["asks"].get("network")
    hooks = set(after["asks"].get("hooks", ())) - set(before["asks"].get("hooks", ()))
    return bool(network or hooks) or not set(after["env"]) <= set(before["env"])
