"""Everything that a person or a script may ask of a runtime, in the process or over its socket."""

from evatui.control.commands import COMMANDS, Command, Danger
from evatui.control.opening import OpenMode, open_workspace, operator_actor, start_kernel, workspace_root
from evatui.control.operator import CommandFailed, Operator
from evatui.control.snapshot import ConsoleSnapshot, Cursor

__all__ = [
    "COMMANDS",
    "Command",
    "CommandFailed",
    "ConsoleSnapshot",
    "Cursor",
    "Danger",
    "OpenMode",
    "Operator",
    "open_workspace",
    "operator_actor",
    "start_kernel",
    "workspace_root",
]
