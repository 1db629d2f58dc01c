"""Calling a capability: the form, its draft, and the call that outlives it."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evatui.console.asking import Asking
from evatui.console.view.answer import error_of, response_of
from evatui.console.view.form.draft import Draft, Earlier, problems_of
from evatui.console.view.form.payload import first_entries, payload_of
from evatui.console.view.form.plan import Form, TooRich, plan
from evatui.console.view.payload import first_payload, pretty
from evatui.console.view.sent import Sent
from evatui.control.operator import OnProgress
from evatui.control.snapshot import CapabilityRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Calling"]

_KEPT = 50


class Calling:
    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self._drafts: dict[str, Draft] = {}
        self._earlier: dict[str, list[Earlier]] = defaultdict(list)
        self.handlers: dict[str, Callable[[], None]] = {"call": self._call}

    def _call(self) -> None:
        row = self._app.pane.subject()
        assert isinstance(row, CapabilityRow)  # the table enables it for nothing else
        self._app.fetch(self._open_form(row), "reading its schema")

    async def _open_form(self, row: CapabilityRow) -> None:
        from evatui.console.screens.call import CallForm

        sent = await self._asking.send("capability.inspect", id=row.id)
        if sent.failed is not None:
            return  # the status line says why
        schema = _input_schema(sent.data or {})
        planned = plan(schema) if schema is not None else TooRich("its schema is not known")
        draft = self._drafts.get(row.id) or Draft(pretty(_first(planned, schema)))

        def kept(text: Draft | None) -> None:
            if text is not None:
                self._drafts[row.id] = text

        calls = _Calls(self._app, self._asking, row.id, self._earlier[row.id])
        self._app.push_screen(CallForm(row, planned, draft, calls), kept)


class _Calls:
    """Of one capability."""

    def __init__(self, app: Stage, asking: Asking, capability_id: str, earlier: list[Earlier]) -> None:
        self._app = app
        self._asking = asking
        self._id = capability_id
        self._earlier = earlier

    @property
    def earlier(self) -> Sequence[Earlier]:
        return tuple(self._earlier)

    async def send(self, params: dict[str, Any], on_progress: OnProgress) -> Sent:
        assert self._app.commands is not None  # enabled only where there is a snapshot
        sent = await self._app.commands.run("capability.call", on_progress=on_progress, **params)
        well = sent.failed is None and bool(response_of(sent.data or {}).get("ok"))
        why = sent.failed.kind if sent.failed is not None else error_of(sent.data or {}).get("kind")
        now = dt.datetime.now(dt.UTC).isoformat()
        same = [one for one in self._earlier if one.payload != params["payload"]]
        self._earlier[:] = [*same, Earlier(now, params["payload"], "ok" if well else str(why), well)][-_KEPT:]
        return sent

    async def problems(self, payload: Mapping[str, Any]) -> Mapping[str, str]:
        sent = await self._asking.send("capability.validate", id=self._id, payload=payload)
        return problems_of((sent.data or {}).get("violations") or ())

    async def keep(self, name: str, payload: Mapping[str, Any]) -> Sent:
        return await self._asking.send("capability.keep_example", id=self._id, name=name, payload=payload)


def _first(planned: Form | TooRich, schema: object) -> Mapping[str, Any]:
    """The defaults; as JSON also what is needed, so that there is something to fill in."""
    made = payload_of(planned, first_entries(planned)) if isinstance(planned, Form) else ""
    return first_payload(schema) if isinstance(made, str) else made


def _input_schema(inspected: Mapping[str, Any]) -> object:
    """The document, where the runtime gives it; a manifest may hold a path instead."""
    manifest = inspected.get("manifest")
    return inspected.get("input_schema") or (manifest.get("input_schema") if isinstance(manifest, Mapping) else None)
