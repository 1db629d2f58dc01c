"""The ``eva`` line that does the same as a key, so that the console teaches the command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

__all__ = ["command_line"]

_OWN = {
    "call.cancel": "cancel",
    "capability.plan": "capability reload --dry-run",
    "capability.revoke": "capability approve",
    "mcp.revoke": "mcp approve",
    "runtime.freeze": "freeze",
    "runtime.thaw": "thaw",
    "trust.show": "trust --dry-run",
    "trust.give": "trust",
    "trust.revoke": "trust --revoke",
}
"""Commands whose words are not their names."""

_FLAGS = {"lose_state": "--lose-state", "force": "--force"}


def command_line(command: str, params: Mapping[str, Any]) -> str:
    """``eva capability drain repo-summary``; the parameters as `Operator.run` takes them."""
    words = ["eva", *_OWN.get(command, command.replace(".", " ").replace("_", "-")).split()]
    words += params.get("ids", ())
    words += [params[name] for name in ("server", "id", "name", "what", "key", "old", "new") if params.get(name)]
    for option in ("provider", "to", "plan", "digest", "if_generation"):
        if params.get(option):
            words += [f"--{option.replace('_', '-')}", str(params[option])]
    words += [option for name, option in _FLAGS.items() if params.get(name)]
    if command in ("capability.revoke", "mcp.revoke"):
        words.append("--revoke")
    if "payload" in params:
        words += ["--payload", json.dumps(params["payload"], ensure_ascii=False)]
    return shlex.join(words)
