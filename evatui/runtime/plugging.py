"""Plugins of a runtime, wired: what is found on disk, as providers, and what their programs are given."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final

from evatui.adapters.plugin_room import PluginRoom
from evatui.adapters.plugin_tasks import PluginTask, PluginTasks
from evatui.extensions.plugins.catalogue import rules_of
from evatui.extensions.plugins.layers import plugin_layers
from evatui.extensions.plugins.offering import adapters_of, capability_of, provider_of
from evatui.extensions.plugins.plugins import Plugins
from evatui.extensions.plugins.verified import Verified
from evatui.extensions.shared.local import user_local
from evatui.kernel.admission.policy import Policy
from evatui.kernel.host.ports import ProcessPort
from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.events import EventBus
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.providers.providers import Providers
from evatui.kernel.registry.reload import Reloader
from evatui.kernel.registry.scan import Scan
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import Layout

__all__ = ["Plugging"]

_VERIFIED: Final = "verified"
_WORK: Final = "work"


class Plugging:
    """``catalogue`` are the plugins, ``tasks`` what of them runs in the background, ``room`` what they share."""

    def __init__(
        self,
        layout: Layout,
        home: OperatorHome | None,
        policy: Callable[[], Policy | None],
        bus: EventBus,
        journal: Journal,
        processes: ProcessPort,
        clock: Clock,
        *,
        writes: bool,
    ) -> None:
        self._bus = bus
        self._journal = journal
        self._policy = policy
        self._adapters: tuple[Adapter, ...] = ()
        self.on_task_ended: Callable[[PluginTask], None] = lambda task: None
        self._verified = Verified(_copies(layout, writes=writes))
        self.catalogue = Plugins(
            plugin_layers(layout, home),
            lambda: rules_of(policy(), user_local),
            os.environ,
            self._verified,
            bus.emit,
            lasting=writes,
        )
        self.catalogue.on_defect = partial(journal.defect, "plugins")
        self.tasks = PluginTasks(clock, self._told)
        self.room = PluginRoom(
            self._verified,
            processes,
            layout.state_dir / _WORK,
            _shown(layout),
            os.environ,
            sandbox_facts().landlock_abi > 0 or sandbox_facts().seccomp,
            self.tasks,
            self._emit,
        )

    def bind(self, reloader: Reloader, providers: Providers, changed: Callable[[], None]) -> None:
        """From now on providers follow the plugins too; ``changed`` is called where anything is new."""

        def scanned(scan: Scan, actor: Actor) -> None:
            self._adapters = scan.adapters
            providers.follow((*scan.adapters, *adapters_of(self.catalogue.latest)), scan.policy, actor)

        def looked() -> None:
            policy = self._policy()
            if policy is not None:  # else the first scan follows
                providers.follow((*self._adapters, *adapters_of(self.catalogue.latest)), policy)
            changed()

        def in_service() -> set[str]:
            blocks = (one.adapter.block for one in providers.serving.values())
            return {block["plugin"].digest for block in blocks if "plugin" in block}

        self.catalogue.in_service = in_service
        reloader.on_scan = scanned
        self.catalogue.on_change = looked
        self.tasks.on_change = changed

    def shut(self) -> None:
        """Nothing runs any more: removes the copies. Blocking."""
        self._verified.clear()

    def _emit(self, what: str, payload: Mapping[str, Any]) -> None:
        self._bus.emit(f"/plugin/{what}", payload)

    def _told(self, what: str, task: PluginTask) -> None:
        """A task that began, or ended: as an event, and its end on record."""
        self._bus.emit(f"/plugin/{what}", task.to_json(), actor=task.actor)
        if task.ended is None:
            return
        self.on_task_ended(task)
        well = task.state == "done"
        self._journal.write(
            Code.PLUGIN_DONE if well else Code.PLUGIN_FAILED,
            Outcome.OK if well else Outcome.ERROR,
            task.actor or KERNEL,
            capability_id=provider_of(task.plugin),
            capability=capability_of(task.plugin, task.tool),
            request_id=task.request_id,
            task=task.handle,
            version=task.version,
            error_kind=task.error.kind.value if task.error is not None else None,
            duration_us=int((task.ended - task.began).total_seconds() * 1_000_000),
        )


def _copies(layout: Layout, *, writes: bool) -> Path:
    """A runtime for the moment leaves the workspace as it was."""
    if writes:
        return layout.state_dir / _VERIFIED
    return Path(tempfile.gettempdir()) / f"evatui-{os.getpid()}-{secrets.token_hex(8)}"


def _shown(layout: Layout) -> str:
    """No place outside of the workspace is told."""
    state = PurePath(layout.state_dir)
    inside = state.is_relative_to(layout.root)
    return f"{state.relative_to(layout.root).as_posix()}/{_WORK}" if inside else f"<state>/{_WORK}"
