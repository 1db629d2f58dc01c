"""The adapters of a workspace: which of them serve, which wait for a person, and why the others do not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.render import render
from evatui.kernel.admission.skill_adapters import barrier
from evatui.kernel.host.credentials import Credential, Credentials
from evatui.kernel.host.ports import AdapterPort, Setting
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.change import ChangeClass
from evatui.kernel.model.diagnostic import Diagnostic, Reason, Span
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.registry.providers.builtin import BUILTIN, Builtin
from evatui.kernel.registry.providers.holding import HeldAdapter, held_back
from evatui.kernel.registry.providers.news import News
from evatui.kernel.registry.providers.provider import Provider
from evatui.kernel.registry.providers.reaching import begins_anew, change_class, endpoint, part_of_adapter
from evatui.kernel.registry.trust import Part, Trust
from evatui.kernel.storage.database import StorageError
from evatui.kernel.storage.tool_book import ToolBook

__all__ = ["Providers"]

_LEAVE_S = 10.0
_UNTRUSTED = "the workspace is not trusted with it any more"


class Providers:
    """``serving`` by id, the kernel's own among them; ``held`` by id, beside or in place of what serves.

    Used on the kernel's loop only. ``lasting``: what can stay connected does.
    """

    def __init__(
        self,
        port: AdapterPort,
        trust: Trust,
        book: ToolBook,
        news: News,
        credentials: Credentials,
        root: Path,
        *,
        mode: str,
        lasting: bool,
    ) -> None:
        self.book = book
        self.news = news
        self.held: dict[str, HeldAdapter] = {}
        self.serving: dict[str, Provider] = {}
        self.declared: tuple[Adapter, ...] = ()
        self.denied: dict[str, Diagnostic] = {}
        self.own_names: Callable[[], frozenset[str]] = frozenset
        """Names, folded, that no tool from outside may have."""
        self._port = port
        self._trust = trust
        self._credentials = credentials
        self._root = root
        self._mode = mode
        self._lasting = lasting
        self._policy: Policy | None = None
        self._names: dict[str, tuple[str, ...]] = {}
        self._places: dict[str, Adapter] = {}
        """By id, what served last in this run: a manifest that goes and comes back must lead to the same place."""
        self._parts: dict[str, Part | None] = {}
        """What they were trusted with."""
        self._less: set[str] = set()
        """Digests of what does less than what was trusted, until that is on record too."""
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, names: Callable[[], dict[str, list[str]]]) -> None:
        """``names`` is what the kernel's own provider tells."""
        self.serving[BUILTIN.id] = Provider(BUILTIN, Builtin(names), self.news)
        self._index()

    # -- who there is --------------------------------------------------------------------------

    def offering(self, capability: str) -> tuple[str, ...]:
        """The ids of those that serve a name, in no order."""
        return self._names.get(capability, ())

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        return self._names

    def denies(self, capability: str) -> bool:
        return self._policy is not None and self._policy.deny.name(capability)

    @property
    def approver(self) -> str:
        """Who may approve: ``operator``, ``console`` or ``never``."""
        return str(self._policy.settings["approvals"]["widening"]) if self._policy is not None else "never"

    def parts(self) -> list[tuple[Adapter, Part]]:
        """What in the adapters needs trust, of each the manifest on disk."""
        policy = self._policy
        if policy is None:
            return []
        found = ((one, part_of_adapter(one, policy)) for one in self.declared)
        return [(adapter, part) for adapter, part in found if part is not None]

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        waits = (found for _, held in sorted(self.held.items()) for found in held.diagnostics)
        return (*waits, *(found for _, found in sorted(self.denied.items())))

    def standing(self, adapter: Adapter) -> tuple[str, str]:
        """How an adapter of the manifests stands, in a word, and why."""
        provider, held, denied = self.serving.get(adapter.id), self.held.get(adapter.id), self.denied.get(adapter.id)
        if provider is not None:
            return provider.state.word, provider.state.detail
        if not adapter.enabled:
            return "disabled", "its manifest switches it off"
        if held is not None:
            return "held", f"{held.diagnostics[0].code} {held.diagnostics[0].message}"
        if denied is not None:
            word = "shown" if denied.reason is Reason.SCHEMA_MISSING else "denied"
            return word, f"{denied.code} {denied.message}"
        return "held", _UNTRUSTED

    def why_not(self, adapter: Adapter, name: str) -> CallFailed:
        """Why an adapter that provides ``name`` by its manifest does not answer."""
        if not adapter.enabled:
            return failure(ErrorKind.UNAVAILABLE, f"{adapter.id} is disabled", reason=Reason.DISABLED_BY_MANIFEST.value)
        if self.denies(name):
            message = f"the policy denies {name}"
            return failure(ErrorKind.POLICY_DENIED, message, reason=Reason.POLICY_DENIED.value)
        if adapter.id in self.serving:
            message = f"{name} is provided by an adapter: call_tool reaches only what runs inside, invoke_adapter all"
            return failure(ErrorKind.NOT_FOUND, message, reason="adapter")
        held = self.held.get(adapter.id)
        first = held.diagnostics[0] if held is not None else self.denied.get(adapter.id)
        if first is not None:
            message = f"{adapter.id} provides {name}, and does not serve: {first.code} {first.message}"
            return failure(ErrorKind.NOT_FOUND, message, reason=first.reason.value)
        message = f"{adapter.id} provides {name}, and does not serve: {_UNTRUSTED}"
        return failure(ErrorKind.NOT_FOUND, message, reason=Reason.APPROVAL_REQUIRED.value)

    # -- following the disk --------------------------------------------------------------------

    def follow(self, adapters: Sequence[Adapter], policy: Policy, actor: Actor = KERNEL) -> None:
        """Makes what serves agree with the disk, as far as it may. Nothing is waited for."""
        self._policy = self.news.policy = policy
        self.declared = tuple(adapters)
        before = {**self.held}
        self.held.clear()
        self.denied.clear()
        wanted: set[str] = {BUILTIN.id}
        for adapter in adapters:
            if adapter.enabled and not self._denied(adapter, policy):
                wanted.add(adapter.id)
                self._place(adapter, policy, actor)
        for key in [key for key in self.serving if key not in wanted]:
            self._withdraw(key, actor, "removed, switched off or denied")
        self._index()
        for key, held in self.held.items():
            if key not in before or before[key].diagnostics != held.diagnostics:
                self.news.held(held, actor)
        self.news.on_change()

    def distrust(self, actor: Actor) -> None:
        """What needs trust and has none any more takes no new calls."""
        self._less.clear()
        untrusted = [adapter.id for adapter, part in self.parts() if not self._trust.has(part)]
        for key in untrusted:
            if key in self.serving:
                self._withdraw(key, actor, "trust was revoked")
        self._index()

    def _denied(self, adapter: Adapter, policy: Policy) -> bool:
        if policy.deny.id(adapter.id):
            found = diagnose("EVA-709", f"the policy denies the adapter {adapter.id}", Span(adapter.path))
            self.denied[adapter.id] = render(found, {})
        elif adapter.transport == "skill" and (barred := barrier(adapter, policy, self._mode)) is not None:
            self.denied[adapter.id] = barred
        return adapter.id in self.denied

    def _place(self, adapter: Adapter, policy: Policy, actor: Actor) -> None:
        provider = self.serving.get(adapter.id)
        part = part_of_adapter(adapter, policy)
        untrusted = part is not None and not self._trust.has(part) and part.digest not in self._less
        last = provider.adapter if provider is not None else self._places.get(adapter.id)
        change = ChangeClass.HOT if last is None or last == adapter else change_class(last, adapter)
        if provider is not None and change is ChangeClass.HOT:
            if untrusted and not self._does_less(adapter, last, part):
                self._withdraw(adapter.id, actor, "it is not trusted any more")
                self.held[adapter.id] = held_back(adapter, part if untrusted else None, change, self._trust)
                return
            if untrusted and part is not None:
                self._less.add(part.digest)
                self._later(partial(asyncio.to_thread, self._trust.set, [part], self.news.clock.now()))
            self._adjust(provider, adapter, part, actor)
            return
        if change is ChangeClass.RESTART or untrusted:
            self.held[adapter.id] = held_back(adapter, part if untrusted else None, change, self._trust)
            return
        if provider is not None:
            self._adjust(provider, adapter, part, actor)
        else:
            self._open(adapter, part, actor)

    def _does_less(self, adapter: Adapter, last: Adapter | None, part: Part | None) -> bool:
        """Another manifest that reaches no further is trusted as the one before was, with the same secrets."""
        before = self._parts.get(adapter.id)
        if last == adapter or before is None or part is None:
            return False
        return bool(before.power.get("credentials") == part.power.get("credentials"))

    def _adjust(self, provider: Provider, adapter: Adapter, part: Part | None, actor: Actor) -> None:
        if begins_anew(provider.adapter, adapter):
            self._withdraw(adapter.id, actor, "another version of it takes its place")
            self._open(adapter, part, actor)
            return
        if provider.adapter is not adapter:
            provider.adjust(adapter)
        self._places[adapter.id], self._parts[adapter.id] = adapter, part

    def _open(self, adapter: Adapter, part: Part | None, actor: Actor) -> None:
        place = endpoint(adapter)
        setting = Setting(
            self._root,
            self._key,
            partial(self.book.of, adapter.id, place),
            self.own_names,
            partial(self.news.server, adapter.id),
        )
        provider = Provider(adapter, self._port.open(adapter, setting), self.news)
        self.serving[adapter.id] = provider
        self._places[adapter.id], self._parts[adapter.id] = adapter, part
        if self._lasting:
            provider.way.start()
        self.news.loaded(adapter, actor)

    def _withdraw(self, key: str, actor: Actor, reason: str) -> None:
        provider = self.serving.pop(key)
        self.news.unregistered(provider.adapter, actor, reason)
        self._later(partial(provider.close, _LEAVE_S))

    def _index(self) -> None:
        names: dict[str, list[str]] = {}
        for key, provider in self.serving.items():
            for name in provider.adapter.capabilities:
                names.setdefault(name, []).append(key)
        self._names = {name: tuple(ids) for name, ids in names.items()}

    def _key(self, name: str) -> Credential:
        defined = self._policy.credentials if self._policy is not None else {}
        return self._credentials.take(name, (name,), defined)

    def _later(self, work: Callable[[], Any]) -> None:
        async def done() -> None:
            try:
                await work()
            except StorageError:
                pass  # it is asked about again at the next start
            except Exception as error:
                self.news.defect(error)

        task = asyncio.get_running_loop().create_task(done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, within_s: float) -> None:
        """Ends all of it, what leaves already included."""
        closing = [provider.close(within_s) for provider in self._gone()]
        await asyncio.gather(*closing, *self._tasks, return_exceptions=True)

    def _gone(self) -> Iterator[Provider]:
        self._names = {}
        while self.serving:
            yield self.serving.popitem()[1]
