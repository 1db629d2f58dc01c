"""What an action is: a key, a word, what it needs, how dangerous it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from evatui.console.view import enabled as when
from evatui.control.commands import COMMANDS, Danger

if TYPE_CHECKING:
    from evatui.console.view.enabled import Enabled

__all__ = ["VIEWS", "Action", "Takes", "View"]


class View(StrEnum):
    REGISTRY = "registry"
    RELOADS = "reloads"
    REJECTED = "rejected"
    DEVICES = "devices"
    IN_FLIGHT = "in-flight"
    AUDIT = "audit"
    EXTENSIONS = "extensions"


VIEWS: dict[View, tuple[str, str]] = {
    View.REGISTRY: ("1", "Registry"),
    View.RELOADS: ("2", "Reloads"),
    View.REJECTED: ("3", "Rejected"),
    View.DEVICES: ("4", "Devices"),
    View.IN_FLIGHT: ("5", "In-flight"),
    View.AUDIT: ("6", "Audit"),
    View.EXTENSIONS: ("7", "Extensions"),
}
"""Key and title of each view."""


class Takes(StrEnum):
    """What may follow the word of an action after ``:``. A thing is the name of a row, which is selected first."""

    NOTHING = ""
    THING = "ID"
    ANYTHING = "ID|REQUEST|GENERATION"
    TEXT = "TEXT"
    THEME = "THEME"
    FILE = "FILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """``enabled`` gives the reason why not, or None. What has no ``key`` has a word for ``:``, as all have.

    ``level`` is its danger where that is not the one of its command; ``bulk``: also of all marked rows at once;
    ``whole``: of the workspace or its runtime, whatever is selected.
    """

    id: str
    key: str = ""
    label: str
    help: str
    group: str
    shown_key: str = ""
    command: str | None = None
    level: Danger | None = None
    views: frozenset[View] = frozenset(View)
    enabled: Enabled = when.always
    takes: Takes = Takes.NOTHING
    in_footer: bool = False
    in_menu: bool = False
    bulk: bool = False
    whole: bool = False

    def shares_key(self, other: Action) -> bool:
        return self is not other and not set(self.key.split(",")).isdisjoint(other.key.split(",")) and bool(self.key)

    @property
    def word(self) -> str:
        """What one types after ``:``."""
        return self.id.removeprefix("view.").removeprefix("move.").replace(".", "-").replace("_", "-")

    @property
    def danger(self) -> Danger:
        """How it must be confirmed. A call with side effects is raised to `Danger.PLAN` where it is made."""
        if self.level is not None:
            return self.level
        return COMMANDS[self.command].danger if self.command else Danger.FREE

    @property
    def changes(self) -> bool:
        """Whether a read-only console is without it."""
        return self.danger > Danger.FREE or (self.command is not None and COMMANDS[self.command].effects)

    @property
    def name_of_key(self) -> str:
        return self.shown_key or self.key.partition(",")[0]
