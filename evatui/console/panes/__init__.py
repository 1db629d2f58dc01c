"""The views, each a list and what stands round it."""

from __future__ import annotations

from evatui.console.panes.audit import AuditPane
from evatui.console.panes.pane import Pane
from evatui.console.panes.registry import RegistryPane
from evatui.console.panes.rejected import RejectedPane
from evatui.console.view.words import Look

__all__ = ["all_panes"]


def all_panes(look: Look) -> tuple[Pane, ...]:
    """In the order of their keys."""
    return RegistryPane(look), RejectedPane(look), AuditPane(look)
