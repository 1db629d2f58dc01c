"""The ``eva`` line that does the same as a key, so that the console teaches the command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

__all__ = ["command_line"]


def command_line(command: str, params: Mapping[str, Any]) -> str:
    """``eva capability drain repo-summary``; the parameters as `Operator.run` takes them."""
    words = ["eva", *command.replace(".", " ").replace("_", "-").split()]
    if command == "capability.plan":
        words = ["eva", "capability", "reload", "--dry-run"]
    words += params.get("ids", ())
    words += [params[name] for name in ("id", "name") if params.get(name)]
    for option in ("provider", "to", "plan", "if_generation"):
        if params.get(option):
            words += [f"--{option.replace('_', '-')}", str(params[option])]
    if "payload" in params:
        words += ["--payload", json.dumps(params["payload"], ensure_ascii=False)]
    return shlex.join(words)
