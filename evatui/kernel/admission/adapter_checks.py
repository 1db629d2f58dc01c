"""What the parts of an adapter manifest ask of each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from evatui.kernel.admission.adapter_rules import TRANSPORTS
from evatui.kernel.admission.hardware_rules import check_hardware
from evatui.kernel.admission.manifest import permissions
from evatui.kernel.admission.report import Fault, Pointer, Report
from evatui.kernel.model.adapter import KERNEL_PROVIDER, MCP_NAMES, SEPARATOR, secrets_of
from evatui.kernel.model.ids import fold
from evatui.kernel.model.permissions import covers_command, covers_host, covers_name
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.topic import is_kernel_topic

__all__ = ["check_transport", "names_of"]


def check_transport(raw: Mapping[str, Any], report: Report) -> None:
    """Exactly the block that is named as the transport, and in it nothing that contradicts the rest."""
    transport = raw.get("transport")
    if transport is None:
        return
    block = raw.get(transport)
    if block is None and report.node((transport,)) is None:
        report.add("EVA-704", f"the transport {transport} needs a block {transport}", report.span(("transport",)))
    for other in TRANSPORTS:
        if other != transport and raw.get(other) is not None:
            message = f"the block {other} is not for the transport {transport}"
            report.add("EVA-704", message, report.span((other,), key=True))
    if isinstance(block, Mapping):
        _check_block(transport, raw, block, report)
        _check_permissions(transport, raw, block, report)
    if transport != "skill" and raw.get("runtime_gate") is not None:
        report.fault(Fault.MISPLACED, "runtime_gate is for the transport skill only", ("runtime_gate",), key=True)
    if fold(raw.get("id", "")) == KERNEL_PROVIDER:
        report.fault(Fault.FORM, f"the id {KERNEL_PROVIDER} is the kernel's own", ("id",))
    if transport not in ("mcp", "skill") and not raw.get("capabilities"):
        report.fault(Fault.MISSING, "capabilities is empty: nobody could call it", ("capabilities",))


def names_of(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """The names under which it can be called: of an MCP server those of its allow-lists, and its aliases."""
    names = list(raw["capabilities"])
    if raw["transport"] == "mcp":
        names += [name for part, name in MCP_NAMES.items() if raw["mcp"][part]]
        names += raw["mcp"]["aliases"]
    return tuple(dict.fromkeys(names))


def _check_block(transport: str, raw: Mapping[str, Any], block: Mapping[str, Any], report: Report) -> None:
    if transport == "mcp":
        _check_mcp(raw, block, report)
    if transport == "hardware":
        check_hardware(raw, report)
    if block.get("command"):
        _check_command(block["command"], (transport, "command"), report)
    for key in ("request_topic", "reply_topic") if transport == "eventbus" else ():
        if key in block and is_kernel_topic(block[key]):
            report.fault(Fault.FORM, f"{key}: only the kernel emits to {block[key]}", (transport, key))
    if transport == "eventbus" and block.get("request_topic") == block.get("reply_topic") is not None:
        report.fault(Fault.FORM, "reply_topic is the same as request_topic", (transport, "reply_topic"))
    for name in ("env", "headers"):
        values = block.get(name) or ()
        for key in values:
            written = values[key].get("credential") if isinstance(values, Mapping) else key
            if written == "*":
                at: Pointer = (transport, name)
                report.fault(Fault.FORM, f"{name} must name each credential: * stands for none here", at)


def _check_mcp(raw: Mapping[str, Any], block: Mapping[str, Any], report: Report) -> None:
    server = block.get("server")
    for kind, needed, other in (("stdio", "command", "url"), ("http", "url", "command")):
        if server != kind:
            continue
        if not block.get(needed):
            report.fault(Fault.MISSING, f'"{needed}" is missing: a {kind} server requires it', ("mcp", "server"))
        if block.get(other):
            report.fault(Fault.MISPLACED, f"{other} is not for a {kind} server", ("mcp", other), key=True)
    for name in block.get("aliases") or ():
        if name in MCP_NAMES.values():
            message = f"aliases: {name} is the name of the protocol's own"
            report.fault(Fault.FORM, message, ("mcp", "aliases", name), key=True)
    if SEPARATOR in raw.get("id", ""):
        message = f"the id of an MCP server must not hold {SEPARATOR}: it stands before the names of its tools"
        report.fault(Fault.FORM, message, ("id",))


def _check_permissions(transport: str, raw: Mapping[str, Any], block: Mapping[str, Any], report: Report) -> None:
    """Where it says what it may reach, its block reaches no further."""
    if report.node(("permissions",)) is None or not isinstance(raw.get("permissions"), Mapping):
        return
    asked = permissions(raw["permissions"])
    command, url = block.get("command"), block.get("url")
    if command and not any(covers_command(grant, tuple(command)) for grant in asked.shell.commands):
        report.fault(Fault.FORM, "permissions.shell.commands does not cover the command", (transport, "command"))
    host = urlsplit(url).hostname or "" if url else ""
    if host and not any(covers_host(grant, host) for grant in asked.network.hosts):
        message = f"permissions.network.hosts does not cover {clean_line(host, 253)}"
        report.fault(Fault.FORM, message, (transport, "url"))
    for name in secrets_of(block):
        if not any(covers_name(grant, name) for grant in asked.env):
            report.fault(Fault.FORM, f"permissions.env does not cover {clean_line(name, 128)}", (transport,), key=True)


def _check_command(command: Any, at: Pointer, report: Report) -> None:
    program = command[0]
    if "/" in program and not program.startswith("/"):
        message = f"{report.shown((*at, 0))} is neither an absolute path nor a plain name"
        report.fault(Fault.FORM, message, (*at, 0))
    for index, word in enumerate(command):
        if "\0" in word:
            report.fault(Fault.FORM, "no word of a command may hold a zero byte", (*at, index))
