"""A runtime that dies while a version is new: once may be anything, twice in a row is that version."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from evatui.control.standing import disk_status, marks, reason_of
from evatui.kernel.registry.rollout.probation import Probations
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.history import History
from evatui.kernel.storage.probation_book import ProbationBook
from tests.runtime.conftest import ANN, call, records
from tests.runtime.hands import Hands
from tests.support.programs import EVA
from tests.support.workspaces import SCRIPT, save, tool, write

TOOL = "capabilities/tools/greet.lua"
LATE = "function invoke(ctx, request) return {ok = true, result = {}} end"


def serve(workspace: Path) -> subprocess.Popen[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("EVA_")}
    serving = subprocess.Popen(
        [*EVA, "serve", "-o", "json"], cwd=workspace, env={**clean, "EVA_TRUST": "1"}, stdout=subprocess.PIPE, text=True
    )
    assert serving.stdout is not None
    assert json.loads(serving.stdout.readline())["event"] == "serving"
    return serving


def kill(serving: subprocess.Popen[str]) -> None:
    serving.send_signal(signal.SIGKILL)
    serving.communicate(timeout=60)


def die_twice(workspace: Path) -> None:
    serving = serve(workspace)
    try:
        save(workspace, TOOL, SCRIPT.replace("one", "two"))
        write(workspace, tool("late", LATE))
        subprocess.run([*EVA, "capability", "reload"], cwd=workspace, check=True, capture_output=True, timeout=100)
    finally:
        kill(serving)
    kill(serve(workspace))


async def test_a_version_that_two_runtimes_died_of_does_not_serve_until_somebody_tries_it(
    start, workspace: Path
) -> None:
    """Neither one in the place of another, nor a first one that came to others which serve."""
    die_twice(workspace)
    runtime = await start()
    capability = runtime.registry.capabilities["greet"]
    assert (await call(runtime)).response.result["by"] == "one"
    assert (disk_status(capability), reason_of(capability)) == ("quarantined", "quarantined")
    assert "quarantined" in marks(capability)
    late = runtime.registry.capabilities["late"]
    assert (late.active, disk_status(late), reason_of(late)) == (None, "quarantined", "quarantined")
    for change in (await runtime.reloader.plan()).changes:
        assert [(found.code, found.reason) for found in change.diagnostics] == [("EVA-605", "quarantined")]
    assert "capability.quarantined" in [row["code"] for row in await records(runtime, 20)]
    await runtime.operations.retry("greet", ANN)
    await runtime.operations.retry("late", ANN)
    assert (await call(runtime)).response.result["by"] == "two"
    assert (await call(runtime, "test.late", {})).response.ok


# -- the rules ----------------------------------------------------------------------------------


class House:
    """What stays on disk, and runtimes that come and go over it."""

    def __init__(self, folder: Path) -> None:
        self._database = Database(folder / "state.db")
        self.history = History(self._database)
        self.hands = Hands()

    def starts(self) -> Probations:
        self.now = Probations(ProbationBook(self._database), self.history, self.hands)
        self.died_of = [one.digest for one in self.now.load()]
        return self.now

    @property
    def quarantined(self) -> set[str]:
        return set(self.history.quarantines().get("greet", {}))


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path)
    house.starts()
    return house


def enters(house: House, digest: str, *, new: bool = True) -> None:
    house.now.enters("greet", digest, 7, 60, new=new)


def runs(capability_id: str, digest: str) -> bool:
    return True


def runs_not(capability_id: str, digest: str) -> bool:
    return False


def test_one_death_is_nobodys_fault(house: House) -> None:
    enters(house, "two")
    house.starts()
    assert house.died_of == []
    enters(house, "two", new=False)
    house.starts()
    assert house.died_of == ["two"]
    assert house.quarantined == {"two"}


def test_an_end_in_good_order_begins_to_count_anew(house: House) -> None:
    enters(house, "two")
    house.starts()
    enters(house, "two", new=False)
    house.now.ended()
    house.starts()
    enters(house, "two", new=False)
    house.starts()
    assert house.died_of == []


async def test_who_has_served_for_its_time_has_proved_itself(house: House) -> None:
    enters(house, "two")
    house.starts()
    enters(house, "two", new=False)
    house.hands.ahead += 20
    await house.now.look(runs)
    assert house.now._marks
    house.hands.ahead += 60
    await house.now.look(runs)
    house.starts()
    house.starts()
    assert house.died_of == []
    assert house.quarantined == set()


async def test_who_has_left_is_not_to_blame_for_what_comes_later(house: House) -> None:
    """Deleted, taken back or switched off; but what is only on its way in has not left."""
    enters(house, "two")
    await house.now.look(runs_not)
    house.starts()
    enters(house, "two", new=False)
    await house.now.look(runs)
    await house.now.look(runs_not)
    house.starts()
    house.starts()
    assert house.died_of == []
    assert house.quarantined == set()


async def test_what_is_deleted_is_on_probation_no_more(start, workspace: Path) -> None:
    write(workspace, tool("late", LATE))
    runtime = await start()
    write(workspace, tool("later", LATE))
    await runtime.reloader.run()
    await runtime.probations.look(runtime.registry.runs)
    assert set(runtime.probations._marks) == {"later"}
    (workspace / "capabilities/later.yaml").unlink()
    await runtime.reloader.run()
    async with asyncio.timeout(30):
        while runtime.probations._marks:  # until it has drained
            await runtime.probations.look(runtime.registry.runs)
            await asyncio.sleep(0)


async def test_who_comes_again_while_it_proves_itself_is_on_probation_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    enters(house, "two")
    house.hands.ahead += 60
    end = ProbationBook.end

    def meanwhile(book: ProbationBook, digests: list[tuple[str, str]]) -> None:
        again.start()
        again.join(0.2)
        end(book, digests)

    again = threading.Thread(target=enters, args=(house, "two"))
    monkeypatch.setattr(ProbationBook, "end", meanwhile)
    await house.now.look(runs)
    again.join()
    monkeypatch.setattr(ProbationBook, "end", end)
    house.starts()
    enters(house, "two", new=False)
    house.starts()
    assert house.died_of == ["two"]


def test_another_version_in_its_place_has_died_of_nothing_yet(house: House) -> None:
    enters(house, "two")
    house.starts()
    enters(house, "three")
    house.starts()
    assert house.died_of == []
    enters(house, "one", new=False)
    house.starts()
    house.starts()
    assert house.died_of == []


def test_the_only_version_is_never_on_probation(house: House) -> None:
    for _ in range(3):
        enters(house, "one", new=False)
        house.starts()
    assert house.quarantined == set()
