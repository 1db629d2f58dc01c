"""The views, each a list and what stands round it."""

from __future__ import annotations

from evatui.console.panes.audit import AuditPane
from evatui.console.panes.devices import DevicesPane
from evatui.console.panes.extensions import ExtensionsPane
from evatui.console.panes.in_flight import InFlightPane
from evatui.console.panes.pane import Pane
from evatui.console.panes.registry import RegistryPane
from evatui.console.panes.rejected import RejectedPane
from evatui.console.panes.reloads import ReloadsPane
from evatui.console.view.numbers import Numbers
from evatui.console.view.words import Look

__all__ = ["all_panes"]

_PANES = (RegistryPane, ReloadsPane, RejectedPane, DevicesPane, InFlightPane, AuditPane, ExtensionsPane)


def all_panes(look: Look, numbers: Numbers) -> tuple[Pane, ...]:
    """In the order of their keys."""
    return tuple(pane(look, numbers) for pane in _PANES)
