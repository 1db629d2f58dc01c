"""How an operator comes by its runtime: attach to the one that holds the workspace, or start one.

Nothing heavy is imported before it is needed: attaching needs neither Lua nor schemas.
"""

from __future__ import annotations

import asyncio
import getpass
import os
from dataclasses import replace
from enum import Enum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from evatui.control.failing import CommandFailed
from evatui.control.layouts import layout_of
from evatui.control.operator import Operator
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.clock import STILL_CLOCK, SYSTEM_CLOCK, Clock
from evatui.kernel.model.errors import CallFailed, ErrorKind

if TYPE_CHECKING:
    from evatui.control.kernel import Kernel
    from evatui.control.remote import RemoteOperator
    from evatui.kernel.workspace.home import OperatorHome
    from evatui.kernel.workspace.layout import Layout
    from evatui.kernel.workspace.lock import Holder

__all__ = [
    "OpenMode",
    "home_in",
    "open_workspace",
    "operator_actor",
    "operator_home",
    "start_kernel",
    "workspace_root",
]


class OpenMode(Enum):
    """``ATTACH``: only to a running one. ``HOLD``: be the one. Otherwise attach, else start one for the moment:
    with ``READ`` it writes nothing, and with ``PICTURE`` its wall clock stands still as well."""

    ATTACH = "attach"
    HOLD = "hold"
    READ = "read"
    PICTURE = "picture"
    WRITE = "write"


def operator_actor(kind: CallerType) -> Actor:
    """The person at this terminal."""
    try:
        return Actor(kind, getpass.getuser())
    except (
        OSError,
        KeyError,
        ImportError,
    ):  # not in the password file, as in some containers; or there is no such file
        return Actor(kind, "unknown")


def operator_home() -> OperatorHome:
    """Where the person at this terminal keeps their own policy and whom they trust.

    ``EVA_CONFIG_DIR`` and ``EVA_DATA_DIR`` name other folders than the platform's, ``EVA_PARENT_PROFILE`` that of a
    profile above this one, ``EVA_SKILLS_PATH`` more folders of skills; ``EVA_TRUST=1`` vouches for whatever is opened.
    """
    from platformdirs import user_config_path, user_data_path

    from evatui.extensions.shared.layers import extra_folders
    from evatui.kernel.workspace.home import OperatorHome

    named, data, parent = map(os.environ.get, ("EVA_CONFIG_DIR", "EVA_DATA_DIR", "EVA_PARENT_PROFILE"))
    return OperatorHome(
        Path(named) if named else user_config_path("evatui", appauthor=False),
        trusts_all=os.environ.get("EVA_TRUST") == "1",
        data=Path(data) if data else user_data_path("evatui", appauthor=False),
        parent=Path(parent) if parent else None,
        skills=extra_folders(os.environ),
    )


def home_in(folder: Path) -> OperatorHome:
    """A home of its own, all in ``folder``, for a workspace that is not to last; it vouches for what is opened."""
    from evatui.kernel.workspace.home import OperatorHome

    return OperatorHome(folder, trusts_all=True, data=folder / "data")


async def open_workspace(
    start: Path | None,
    *,
    state_dir: Path | None,
    mode: OpenMode,
    actor: Actor,
    readonly: bool = False,
    home: OperatorHome | None = None,
    stays: bool = False,
) -> Operator:
    """An operator for the workspace at or above ``start`` (default: here).

    One that ``stays`` attached goes over to the next runtime when the one that it is attached to ends.

    ``home`` (`operator_home`) is what the person who asks has set up; without one they vouch for the workspace.

    Raises `CommandFailed`: ``InvalidInput`` or ``NotFound`` for what is no workspace, ``Unavailable``
    where another process holds it (``context.holder``), or where none does and one is needed.
    """
    root = await asyncio.to_thread(workspace_root, start)
    layout = await asyncio.to_thread(layout_of, root, state_dir)
    place = layout.state_dir
    if mode is not OpenMode.HOLD and (holder := await _listener(place)) is not None:
        first = await _attached_to(holder, actor, readonly)
        return _staying(first, place, actor) if stays else first
    if mode is OpenMode.HOLD:
        await asyncio.to_thread(_refuse_a_second, place)
    if mode is OpenMode.ATTACH:
        raise _nobody()
    from evatui.control.local import LocalOperator

    try:
        kernel = await asyncio.to_thread(
            start_kernel,
            layout,
            writes=mode in (OpenMode.HOLD, OpenMode.WRITE),
            listens=mode is OpenMode.HOLD,
            clock=STILL_CLOCK if mode is OpenMode.PICTURE else SYSTEM_CLOCK,
            home=home,
        )
    except CommandFailed as failed:
        # a runtime that took the lock first, since the look above, answers as well
        late = await _listener(place) if mode is OpenMode.WRITE and "holder" in failed.context else None
        if late is None:
            raise
        return await _attached_to(late, actor, readonly)
    return LocalOperator(kernel, actor, readonly=readonly, holds=mode is OpenMode.HOLD)


async def _listener(state_dir: Path) -> Holder | None:
    """The runtime that holds the workspace and answers, None where none does or one is about to end.

    A runtime that is just starting holds the lock before it listens, and is waited for: at most 5 s.
    """
    from evatui.kernel.workspace.lock import holder_of

    holder: Holder | None = None
    for _ in range(100):
        holder = await asyncio.to_thread(holder_of, state_dir)
        if holder is None or not holder.listens:
            return None
        if holder.address is not None:
            break
        await asyncio.sleep(0.05)
    return holder


async def _attached_to(holder: Holder, actor: Actor, readonly: bool) -> RemoteOperator:
    from evatui.control.remote import connect

    return await connect(holder, actor, readonly=readonly)


def _staying(first: RemoteOperator, state_dir: Path, actor: Actor) -> Operator:
    from evatui.control.reconnecting import ReconnectingOperator

    async def dial() -> RemoteOperator:
        holder = await _listener(state_dir)
        if holder is None:
            raise _nobody()
        return await _attached_to(holder, actor, first.readonly)

    return ReconnectingOperator(first, dial)


def _nobody() -> CommandFailed:
    return CommandFailed(
        ErrorKind.UNAVAILABLE,
        "no runtime holds this workspace",
        suggestion="start one with `evatui` or `eva serve`",
    )


def start_kernel(
    layout: Layout,
    *,
    writes: bool,
    listens: bool,
    clock: Clock = SYSTEM_CLOCK,
    home: OperatorHome | None = None,
    audit_fd: int | None = None,
) -> Kernel:
    """Starts a runtime in this process; blocking. ``audit_fd`` gets each audit record as well.

    Raises `CommandFailed` as `open_workspace` does.
    """
    from evatui.control.bundle import bundled_workspace
    from evatui.control.kernel import LOCK_WAIT_S, Kernel
    from evatui.kernel.storage.database import StorageError
    from evatui.kernel.workspace.lock import WorkspaceHeld

    if home is not None and layout.root == bundled_workspace().resolve():
        home = replace(home, trusts_all=True)
    try:
        return Kernel.start(
            layout,
            writes=writes,
            listens=listens,
            lock_wait_s=LOCK_WAIT_S,
            clock=clock,
            home=home,
            audit_fd=audit_fd,
        )
    except WorkspaceHeld as held:
        raise _held(held) from None
    except StorageError as error:
        raise CommandFailed(
            ErrorKind.UNAVAILABLE,
            str(error),
            suggestion="move .eva/state.db aside and start again",
        ) from None
    except CallFailed as failed:
        raise CommandFailed(failed.error.kind, failed.error.message, context=failed.error.details) from None
    except OSError as error:
        raise CommandFailed(
            ErrorKind.UNAVAILABLE,
            f"the state directory cannot be used: {error.strerror}",
            suggestion="choose another with --state-dir or EVA_STATE_DIR",
        ) from None


def workspace_root(start: Path | None) -> Path:
    """``start``, or the nearest workspace upward from here; raises `CommandFailed` (``NotFound``)."""
    from evatui.kernel.workspace.layout import find_workspace

    try:
        here = start.expanduser() if start is not None else Path.cwd()
    except FileNotFoundError:
        raise CommandFailed(
            ErrorKind.NOT_FOUND, "the current folder is gone", suggestion="cd to another one, or name one with -w DIR"
        ) from None
    if start is not None and not here.is_dir():
        word = "is not a folder" if here.exists() else "does not exist"
        raise CommandFailed(
            ErrorKind.NOT_FOUND,
            f"{here} {word}",
            suggestion=f"create a workspace there with: eva init {quote(str(here))}",
        )
    if start is not None:
        return here
    found = find_workspace(here)
    if found is None:
        raise CommandFailed(
            ErrorKind.NOT_FOUND,
            "no workspace here or above: no eva.yaml, config/eva.yaml or capabilities/",
            suggestion="name one with -w DIR, or create one with: eva init DIR",
        )
    return found


def _refuse_a_second(state_dir: Path) -> None:
    """A runtime that serves is not about to let go: nobody need wait to be told so."""
    from evatui.kernel.workspace.lock import WorkspaceHeld, holder_of

    holder = holder_of(state_dir)
    if holder is not None and holder.address is not None:
        raise _held(WorkspaceHeld(holder))


def _held(held: Exception) -> CommandFailed:
    holder = getattr(held, "holder", None)
    return CommandFailed(
        ErrorKind.UNAVAILABLE,
        f"{held}",
        suggestion="attach to it with: evatui --attach",
        context={"holder": {"pid": holder.pid, "host": holder.host} if holder else None},
    )
