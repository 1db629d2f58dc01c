"""What is looked at before anything else of an HTTP request: where it was meant to go, and which page sent it.

A page in a browser can reach this machine under a name of its own choosing (DNS rebinding); it cannot choose what the
browser writes into ``Host`` and ``Origin``. Every route is behind this, and the token comes after it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["Borders", "borders_of", "is_loopback"]


@dataclass(frozen=True, slots=True)
class Borders:
    """Exact ``Host`` and ``Origin`` values; there are no patterns."""

    hosts: tuple[str, ...]
    origins: tuple[str, ...]

    def refusal(self, hosts: Sequence[bytes], origins: Sequence[bytes]) -> tuple[int, str] | None:
        """Status and text, None where the request may pass. No ``Origin`` is no page, so that passes."""
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in self.hosts:
            return 421, "Invalid Host header"
        if len(origins) > 1 or any(origin.decode("latin-1") not in self.origins for origin in origins):
            return 403, "Invalid Origin header"
        return None


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def borders_of(host: str, port: int, hosts: Sequence[str], origins: Sequence[str]) -> Borders:
    """Those of a server at ``host:port`` whose settings allow ``hosts`` and ``origins`` besides.

    Raises `CommandFailed` where it could be reached from other machines and nobody said under which name.
    """
    if not is_loopback(host) and not hosts:
        raise CommandFailed(
            ErrorKind.INVALID_INPUT,
            f"{clean_line(host, 80)} is reached from other machines: eva.yaml must say under which names",
            suggestion="give mcp_server.allowed_hosts, or bind to 127.0.0.1",
        )
    shown = f"[{host}]" if ":" in host else host
    own = [f"{name}:{port}" for name in (shown, "localhost")] if is_loopback(host) else []
    return Borders(tuple(name.lower() for name in (*own, *hosts)), tuple(origins))
