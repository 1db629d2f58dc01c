"""A defect of evatui itself while one capability is judged: nobody else notices."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.admission import admit as admission
from evatui.kernel.registry import judge as judging
from evatui.kernel.workspace import snapshot as reading
from tests.runtime.conftest import call
from tests.support.waiting import until
from tests.support.workspaces import MANIFEST, save

GREET = "capabilities/greet.yaml"
OTHER = "capabilities/other.yaml"
SAID = "token=hunter2 in /srv/somewhere"


class Panic(BaseException):
    """As native code raises it where it gives up."""


def manifest_of_other(description: str = "Another one") -> str:
    text = MANIFEST.replace("id: greet\n", "id: other\n").replace("text.greet", "text.other")
    return text.replace("name: Greeter", f"name: {description}")


@pytest.fixture(params=[RecursionError, Panic])
def kind(request: pytest.FixtureRequest) -> type[BaseException]:
    return request.param


@pytest.fixture(params=["admit", "take_snapshot"])
def strike(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]) -> set[str]:
    """The paths that are struck, at the step that the parameter names."""
    struck: set[str] = set()
    sound = {"admit": admission.admit, "take_snapshot": reading.take_snapshot}[request.param]

    def strikes(*given: Any, **named: Any) -> Any:
        path = given[0].path if request.param == "admit" else given[2]
        if path in struck:
            raise kind(SAID)
        return sound(*given, **named)

    monkeypatch.setattr(judging, request.param, strikes)
    return struck


async def test_a_defect_refuses_the_one_that_it_hit_and_its_old_version_serves(
    start, workspace: Path, strike: set[str], kind: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "evatui")
    runtime = await start()
    strike.add(GREET)
    save(workspace, GREET, MANIFEST.replace("name: Greeter", "name: Greeter two"))
    save(workspace, OTHER, manifest_of_other())
    await runtime.reloader.run(explicit=True)
    greet, other = (runtime.registry.capabilities[key] for key in ("greet", "other"))
    assert greet.rejection is not None
    assert greet.active is not None
    (found,) = greet.rejection.diagnostics
    assert (found.code, found.reason.value, found.spans[0].file) == ("EVA-606", "internal", GREET)
    assert kind.__name__ in found.message
    assert "defect of evatui" in found.message
    assert "hunter2" not in str(found.to_json())
    assert "Traceback" not in found.rendered
    assert (await call(runtime)).response.ok
    assert (await call(runtime, "text.other")).response.ok
    assert (greet.active.candidate.manifest.name, other.rejection) == ("Greeter", None)
    told = [event.payload for event in runtime.bus.since(0)[0] if event.topic == "/runtime/defect"]
    assert {"where": "admission", "error": kind.__name__} in told
    assert any(record.exc_info and SAID in str(record.exc_info[1]) for record in caplog.records)

    strike.clear()
    await runtime.reloader.follow(frozenset())  # no file was saved since
    await until(lambda: greet.active is not None and greet.active.candidate.manifest.name == "Greeter two")
    await until(lambda: greet.rejection is None)


async def test_a_defect_at_the_start_and_after_a_notice_stays_with_its_file(
    start, workspace: Path, strike: set[str]
) -> None:
    strike.add(OTHER)
    save(workspace, OTHER, manifest_of_other())
    runtime = await start()
    assert (await call(runtime)).response.ok
    strike.clear()
    await runtime.reloader.run()
    assert (await call(runtime, "text.other")).response.ok
    strike.add(OTHER)
    save(workspace, OTHER, manifest_of_other("Renamed"))
    await runtime.reloader.follow(frozenset({OTHER}))
    other = runtime.registry.capabilities["other"]
    await until(lambda: other.rejection is not None)
    assert other.rejection is not None
    assert other.rejection.diagnostics[0].code == "EVA-606"
    assert (await call(runtime, "text.other")).response.ok
    assert (await call(runtime)).response.ok
