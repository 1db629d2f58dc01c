"""The composition root: the kernel's rooms for one workspace, wired. The only file that knows them all."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from evatui.adapters.http import Http
from evatui.adapters.port import Adapters
from evatui.adapters.process import Processes
from evatui.adapters.resolving import SystemNames
from evatui.extensions.shared.layers import layers_of
from evatui.extensions.shared.local import user_local
from evatui.extensions.skills.skills import Skills
from evatui.hardware.hardware import Hardware
from evatui.hardware.simulators.simulators import Simulators
from evatui.hardware.sources.hid_devices import HidDevices
from evatui.hardware.sources.remote_ports import RemotePorts
from evatui.hardware.sources.serial_ports import SerialPorts
from evatui.hardware.telling import Telling
from evatui.kernel.admission.policy import Policy
from evatui.kernel.host.credentials import Credentials
from evatui.kernel.host.host import Host
from evatui.kernel.host.ports import Outside
from evatui.kernel.lua.engine import Engine
from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.lua.worker.workers import Workers
from evatui.kernel.model.call import CallReport, CallRequest
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.event import Event
from evatui.kernel.records.events import EventBus
from evatui.kernel.records.metrics import Metrics
from evatui.kernel.registry.applying import Applying
from evatui.kernel.registry.approvals import Approvals
from evatui.kernel.registry.calls import Calls
from evatui.kernel.registry.cancelling import Cancelling
from evatui.kernel.registry.entering import Entering
from evatui.kernel.registry.examples import Examples
from evatui.kernel.registry.freezing import Freezing
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.gauges import gauges, provider_gauges
from evatui.kernel.registry.in_force import InForce
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.keeper import Keeper
from evatui.kernel.registry.keeping import Keeping
from evatui.kernel.registry.kept_policy import KeptPolicy
from evatui.kernel.registry.looking import Looking
from evatui.kernel.registry.migrations import Migrations
from evatui.kernel.registry.operations import Operations
from evatui.kernel.registry.providers.dispatch import Dispatch
from evatui.kernel.registry.providers.news import News
from evatui.kernel.registry.providers.providers import Providers
from evatui.kernel.registry.providers.tools import Tools
from evatui.kernel.registry.publisher import Publisher
from evatui.kernel.registry.pulse import Pulse
from evatui.kernel.registry.refusals import Refusals
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.reload import Reloader
from evatui.kernel.registry.restoring import Restoring
from evatui.kernel.registry.rollout.beginning import Beginnings
from evatui.kernel.registry.rollout.canaries import Canaries
from evatui.kernel.registry.rollout.orders import Rollouts
from evatui.kernel.registry.rollout.probation import Probations
from evatui.kernel.registry.rollout.trials import Trials
from evatui.kernel.registry.scan import Scanner
from evatui.kernel.registry.shadow import Shadow
from evatui.kernel.registry.state_folder import StateFolder
from evatui.kernel.registry.table import Table
from evatui.kernel.registry.trust import Trust
from evatui.kernel.registry.trying import Trying
from evatui.kernel.registry.undoing import Undoing
from evatui.kernel.registry.warden import Warden
from evatui.kernel.storage.device_book import DeviceBook
from evatui.kernel.storage.freeze_book import FreezeBook
from evatui.kernel.storage.grant_book import GrantBook
from evatui.kernel.storage.history import History
from evatui.kernel.storage.policy_book import PolicyBook
from evatui.kernel.storage.probation_book import ProbationBook
from evatui.kernel.storage.rejection_book import RejectionBook
from evatui.kernel.storage.state_store import StateStore
from evatui.kernel.storage.tool_book import ToolBook
from evatui.kernel.workspace.bundled import bundled_skills
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.lock import WorkspaceLock
from evatui.runtime.hooking import Hooking
from evatui.runtime.plugging import Plugging

__all__ = ["Rooms"]

_LOADS_AT_ONCE = 64


class Rooms:
    """What a runtime is made of. ``writes`` False: it loads in order, and leaves the workspace as it was."""

    def __init__(
        self,
        layout: Layout,
        tree: Tree,
        folder: StateFolder,
        clock: Clock,
        *,
        writes: bool,
        lock: WorkspaceLock | None,
        home: OperatorHome | None,
        bus: EventBus | None,
    ) -> None:
        self.layout = layout
        self.clock = clock
        self.since: dt.datetime = clock.now()
        self.audit = folder.audit
        self.seal = folder.seal
        self.bus = EventBus(clock) if bus is None else bus
        database, store, audit = folder.state, folder.store, folder.audit
        self.history = History(database)
        self.store = store
        self._folder = folder
        self._tree = tree
        self.sandbox = sandbox_facts()
        self.workers = Workers()
        self.engine = Engine(workers=self.workers)
        self._journal = Journal(self.bus, audit, clock)
        self.refusals = Refusals(RejectionBook(database), self._journal)
        self.registry = Registry(self._journal, self.refusals, clock)
        in_force = InForce(lambda: self.reloader.policy)
        self.state = state = StateStore(database)
        names = SystemNames()
        outside = Outside(Http(names), Processes(), Credentials(os.environ))
        host = Host(
            layout=layout,
            tree=tree,
            state=state,
            events=self.bus,
            invoke=self.call,
            clock=clock,
            outside=outside,
        )
        self.trust = Trust(home, layout.root, writes=writes)
        self.gate = Gate(GrantBook(database), self.trust, clock)
        self.warden = Warden(self.registry, self.workers)
        shadow = Shadow(self.engine, host, clock, in_force.permissions, self.warden)
        self.pulse = Pulse(self.registry, shadow, layout.runtime.health_interval_s)
        self.pulse.on_defect = partial(self._journal.defect, "pulse")
        self.examples = Examples(shadow, tree, layout, clock)
        self.keeping = keeping = Keeping(self.history, store, state, clock)
        migrations = Migrations(shadow, state, self.history, self._journal, clock)
        self.probations = Probations(ProbationBook(database), self.history, clock)
        self.canaries = Canaries(
            self.registry, keeping, self.gate, self.probations, lambda: self.reloader.policy, clock
        )
        entering = Entering(
            self.registry,
            shadow,
            self.gate,
            self.history,
            keeping,
            self.canaries,
            migrations,
            self.probations,
            clock,
        )
        publisher = Publisher(
            self.registry,
            shadow,
            self.gate,
            self.history,
            self.examples,
            entering,
            clock,
            layout.runtime.max_live_generations,
        )
        beginnings = Beginnings(self.canaries, migrations)
        applying = Applying(self.registry, publisher, beginnings, at_once=_LOADS_AT_ONCE if writes else 1)
        scanner = Scanner(layout, tree, self.sandbox, home, KeptPolicy(PolicyBook(database)))
        scanner.on_defect(partial(self._journal.defect, "admission"))
        self.reloader = Reloader(
            self.registry,
            Looking(self.registry, scanner, self.gate),
            Trying(self.registry, shadow, self.examples, migrations, beginnings),
            self.examples,
            publisher,
            applying,
            self.warden,
            layout.runtime.hot_reload,
        )
        self._restoring = Restoring(
            self.registry, self.reloader, publisher, shadow, self.gate, store, layout, self.sandbox
        )
        applying.before = self._restoring.beside
        self.accounts = applying.accounts
        self.operations = Operations(
            self.registry,
            self.reloader,
            self._restoring,
            self.warden,
            self.history,
            keeping,
            self.canaries,
            migrations,
            clock,
        )
        self.rollouts = Rollouts(self.registry, self.canaries, clock)
        self.undoing = Undoing(self.registry, self.operations, self.rollouts, self._restoring, state)
        self.freezing = Freezing(FreezeBook(database), self.reloader, self.gate, self.canaries, self._journal)
        self.trials = Trials(self.registry, self.operations, self._restoring, state, clock)
        self.calls = Calls(self.registry, host, audit, clock, in_force, layout.name, layout.runtime.mode)
        self.simulators = Simulators()
        self.hardware = Hardware(
            (SerialPorts(), HidDevices(), RemotePorts(lambda: self.hardware.addresses), self.simulators),
            DeviceBook(database),
            lambda: self.reloader.policy,
            Telling(self.bus, self._journal),
            clock,
        )
        layers = layers_of(layout, home, bundled_skills())
        self.skills = Skills(layers, lambda: user_local(self.policy), os.environ, self.bus.emit)
        self.skills.on_change = self._changed
        self.skills.on_defect = partial(self._journal.defect, "skills")
        self.plugging = Plugging(
            layout, home, lambda: self.policy, self.bus, self._journal, outside.processes, clock, writes=writes
        )
        self.providers = Providers(
            Adapters(
                outside.http, names, self.bus, self.hardware, self.skills, self.plugging.room, layout.runtime.mode
            ),
            self.trust,
            ToolBook(database),
            News(self._journal, audit, self.bus, clock),
            outside.credentials,
            layout.root,
            mode=layout.runtime.mode,
            lasting=writes,
        )
        self.tools = Tools(self.providers, self._journal)
        self.dispatch = Dispatch(self.registry, self.calls, self.providers, clock)
        self.cancelling = Cancelling(self.dispatch, self.plugging.tasks, self._journal, clock)
        self.hooking = Hooking(
            self.providers, self.dispatch, self.plugging.room, layout.root, audit, self._journal, self.bus, clock
        )
        self.plugging.on_task_ended = self.hooking.task_ended
        self.registry.why_not = self.providers.why_not
        self.plugging.bind(self.reloader, self.providers, self._changed)
        self.approvals = Approvals(self.registry, self.reloader, self.gate, self.providers, clock)
        self.calls.observers += [self.canaries.observe, self.trials.observe]
        self.shadow = shadow
        self._keeper = Keeper(layout.state_dir, lock, audit, folder.databases)
        self._listeners: list[Callable[[], None]] = []
        self.metrics = Metrics(lambda: [*gauges(self.registry), *provider_gauges(self.providers)])
        self.bus.on_emit = self._told
        audit.on_append = self._recorded
        self.calls.on_flight = self._changed
        self.hooking.on_flight = self._changed
        self.registry.on_change = self._changed
        self.refusals.on_kept = self._changed
        self.providers.news.on_change = self._changed

    @property
    def table(self) -> Table:
        return self.registry.table

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What is wrong beyond single manifests: on disk, and with what the runtime itself holds there."""
        return (*self._keeper.problems, *self.reloader.problems, *self.providers.problems)

    @property
    def policy(self) -> Policy | None:
        return self.reloader.policy

    def call(self, request: CallRequest) -> Coroutine[Any, Any, CallReport]:
        return self.hooking.call(request)

    def on_change(self, notify: Callable[[], None]) -> None:
        """``notify`` is called, from any thread and often, when something happened; it must be cheap."""
        self._listeners.append(notify)

    def _told(self, event: Event) -> None:
        self.metrics.told(event)
        self._changed()

    def _recorded(self, record: Mapping[str, Any]) -> None:
        self.metrics.recorded(record)
        self._changed()

    def _changed(self) -> None:
        for notify in self._listeners:
            notify()
