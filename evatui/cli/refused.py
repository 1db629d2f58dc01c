"""How refusals read in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evatui.cli.screen import Screen
from evatui.cli.show import scalar, show_diagnostics

__all__ = ["show_rejections"]

_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan", "=": "dim"}


def show_rejections(screen: Screen, data: Mapping[str, Any]) -> None:
    held, earlier = data.get("held") or (), data.get("earlier") or ()
    if not data["rejections"] and not held:
        screen.line("Nothing is refused.")
    for waits in held:
        screen.line(f"◌ {waits['id']}  {waits['path']}  waits: {waits['reason']}", "bold yellow")
        serving = waits.get("serving")
        screen.line(f"{serving} goes on serving" if serving else "nothing serves in its place", "dim")
        show_diagnostics(screen, waits["diagnostics"])
    for rejection in data["rejections"]:
        _rejection(screen, rejection)
    if earlier:
        screen.line("Refused earlier, and no longer:", "bold")
    for told in earlier:
        screen.line(f"· {told['at']}  {told['id'] or told['path']}  {told['digest'][:12]}  {told['summary']}", "dim")
    if earlier:
        screen.line("eva capability explain-rejected --digest D tells why", "dim")


def _rejection(screen: Screen, rejection: Mapping[str, Any]) -> None:
    screen.line("  ".join(filter(None, ("✗", _named(rejection), rejection["path"]))), "bold red")
    if digest := rejection.get("digest"):
        screen.line(f"refused {rejection['at']}  digest {digest[:12]}", "dim")
        screen.line(_meanwhile(rejection), "dim")
    if against := rejection.get("against"):
        screen.line(f"what differs from {against}, which served then:", "dim")
    for field in rejection.get("difference") or ():
        screen.line(f"  {field['path']}: {scalar(field['from'])} served, {scalar(field['to'])} was refused", "dim")
    for line in (rejection.get("diff") or "").splitlines():
        screen.line(f"  {line}", _DIFF_STYLES.get(line[:1], "dim"))
    show_diagnostics(screen, rejection["diagnostics"])


def _named(rejection: Mapping[str, Any]) -> str:
    """Empty for what is no capability's file."""
    if rejection.get("id") or not rejection.get("digest"):
        return rejection.get("id") or ""
    former = rejection.get("key") or rejection["path"]
    return f"{former} (without a usable id)" if former != rejection["path"] else "a manifest without a usable id"


def _meanwhile(rejection: Mapping[str, Any]) -> str:
    serving = rejection.get("serving")
    if not rejection.get("in_force", True):
        return f"no longer in force; {f'{serving} serves' if serving else 'nothing serves'} now"
    return f"{serving} still serves" if serving else "nothing serves in its place"
