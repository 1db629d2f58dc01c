"""What MCP clients are told of the prompts that they may ask for."""

from __future__ import annotations

__all__ = ["described"]

_DESCRIBED = {
    "context": (
        "Skills of this workspace",
        "For the system prompt of an agent: the index of skills, and the texts that are always wanted.",
    ),
}


def described(name: str) -> dict[str, str]:
    """``{name, title, description}`` of a prompt that there is."""
    title, description = _DESCRIBED[name]
    return {"name": name, "title": title, "description": description}
