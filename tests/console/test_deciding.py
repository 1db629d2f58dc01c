"""What a person decides at the console: trust in a workspace, and versions that wait for approval."""

from __future__ import annotations

from typing import Any

import pytest

from evatui.console.screens.confirm import Confirm
from evatui.console.screens.typed import Typed
from evatui.console.view.actions import View
from evatui.console.view.answer import plan_lines
from evatui.console.view.ink import plain
from evatui.console.view.permissions import permission_lines
from evatui.console.view.unserved import rejected_rows
from evatui.console.view.waiting import held_card
from evatui.console.view.words import Look
from evatui.control.deciding import IdleRow, TrustInfo
from evatui.control.failing import CommandFailed
from evatui.control.snapshot import ConsoleSnapshot
from evatui.kernel.model.errors import ErrorKind
from tests.console.conftest import OpenConsole
from tests.console.scene import at, capability, held, refused, scene, trust_data
from tests.support.pilots import press


def untrusted(**changes: Any) -> ConsoleSnapshot:
    return scene(trust=TrustInfo(vouched=False, waiting=1), held=(held(waits_for="trust"),), **changes)


async def test_an_untrusted_workspace_is_asked_about_once_and_enter_means_not_now(console: OpenConsole) -> None:
    async with console(untrusted(), answers={"trust.show": trust_data()}) as it:
        await it.settle()
        assert isinstance(it.dialog, Confirm)
        for shown in ("capability radar-feed", "radar.example.org", "API_KEY", "capabilities/radar-feed.yaml", "3f2a"):
            assert shown in it.screen
        await it.armed()
        await it.press("enter")
        assert it.open_dialogs == 0
        assert it.operator.sent("trust.give") == []
        assert "T asks again" in it.status
        assert "UNTRUSTED" in it.text("#header")
        await it.change(untrusted(at=at("14:02:30")))
        assert it.open_dialogs == 0


async def test_only_y_trusts_and_just_the_list_that_was_seen(console: OpenConsole) -> None:
    async with console(untrusted(), answers={"trust.show": trust_data(), "trust.give": trust_data()}) as it:
        await it.settle()
        await it.armed()
        await it.press("y")
        assert it.operator.sent("trust.give") == [{"digest": "11" * 32}]
        assert "trusted the workspace" in it.status
        assert "z takes it back" in it.status
        assert f"eva trust --digest {'11' * 32}" in it.status.replace("\n", " ")


async def test_keys_typed_before_the_question_was_seen_trust_nothing(console: OpenConsole) -> None:
    async with console(untrusted(), answers={"trust.show": trust_data()}, quick=False) as it:
        await it.settle()
        await press(it.pilot, "y")
        await it.settle()
        assert isinstance(it.dialog, Confirm)
        assert it.operator.sent("trust.give") == []


async def test_a_list_that_moved_under_the_dialog_is_refused_and_said(console: OpenConsole) -> None:
    moved = CommandFailed(ErrorKind.CONFLICT, "what would be trusted has changed since you looked")
    async with console(untrusted(), answers={"trust.show": trust_data(), "trust.give": moved}) as it:
        await it.settle()
        await it.armed()
        await it.press("y")
        assert "✗ Conflict" in it.status
        assert "has changed since you looked" in it.status


async def test_a_trusted_workspace_opens_without_a_question(console: OpenConsole) -> None:
    async with console() as it:
        assert it.open_dialogs == 0
        assert "UNTRUSTED" not in it.text("#header")
        await it.press("T")
        assert "nothing here waits for trust" in it.status


async def test_a_readonly_console_says_untrusted_and_neither_asks_nor_trusts(console: OpenConsole) -> None:
    async with console(untrusted(), readonly=True) as it:
        assert it.open_dialogs == 0
        assert "UNTRUSTED" in it.text("#header")
        await it.press("T")
        assert "READ-ONLY" in it.status
        assert it.operator.commands == []


async def test_trust_is_taken_back_after_a_question(console: OpenConsole) -> None:
    trusted = scene(trust=TrustInfo(vouched=False, trusted=2))
    async with console(trusted, answers={"trust.revoke": trust_data()}) as it:
        it.app.action_act("distrust")
        await it.settle()
        await it.armed()
        assert "eva trust --revoke" in it.screen
        await it.press("y")
        assert it.operator.sent("trust.revoke") == [{}]


@pytest.mark.parametrize("view", [View.REGISTRY, View.REJECTED])
async def test_approval_takes_the_typed_id_and_goes_with_the_digest_seen(console: OpenConsole, view: View) -> None:
    rows = (capability("radar-feed", 38, marks=("held",)),)
    waits = scene(capabilities=rows, rejections=(), held=(held(),))
    async with console(waits, view=view, answers={"capability.approve": {"to": "radar-feed@1.1.0"}}) as it:
        it.app.action_act("approve")
        await it.settle()
        assert isinstance(await it.armed(), Typed)
        assert "+ widened   network.hosts" in it.screen
        assert "eva capability approve radar-feed --digest" in it.screen
        await it.press(*"radar", "enter")
        assert it.operator.sent("capability.approve") == []
        await it.press(*"-feed", "enter")
        sent = {"id": "radar-feed", "digest": "ab" * 32, "typed": "radar-feed"}
        assert it.operator.sent("capability.approve") == [sent]
        assert "approved radar-feed" in it.status
        assert "z rolls back" in it.status


async def test_an_approval_that_has_not_taken_effect_is_taken_back(console: OpenConsole) -> None:
    rows = (capability("radar-feed", 38, marks=("held",)),)
    waits = scene(capabilities=rows, held=(held(waits_for="restart"),))
    async with console(waits, answers={"capability.revoke": {"note": "the approval is forgotten"}}) as it:
        it.app.action_act("approve")
        assert "with a restart of the runtime" in it.status
        it.app.action_act("revoke")
        await it.settle()
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("capability.revoke") == [{"id": "radar-feed", "digest": "ab" * 32}]


def test_permissions_are_told_field_by_field_what_is_wider_first() -> None:
    shown = [plain(row) for row in permission_lines(held().permissions)]
    assert [row.split()[1:3] for row in shown] == [
        ["widened", "network.hosts"], ["widened", "limits.timeout_ms"], ["narrowed", "fs.read"], ["unchanged", "env"],
    ]  # fmt: skip
    assert "+ b.example.org  now a.example.org, b.example.org" in shown[0]
    assert "5000 → 30000" in shown[1]
    assert "− workspace  now nothing" in shown[2]


def test_a_reload_shows_what_each_version_may_do_beside_what_differs_in_it() -> None:
    files = [{"path": "capabilities/radar.yaml", "from": "aa", "to": "bb"}]
    diff = {"files": files, "permissions": held().permissions}
    shown = [plain(row) for row in plan_lines({"changes": [{"id": "radar-feed", "action": "hold", "diff": diff}]})]
    assert shown[1] == "    capabilities/radar.yaml changed"
    assert shown[2:] == [f"    {plain(row)}" for row in permission_lines(held().permissions)]
    assert len(shown) == 6


def test_a_held_version_says_what_for_who_answers_meanwhile_and_why() -> None:
    card = "\n".join(plain(row) for row in held_card(held(), 100, Look(picture=True)))
    for said in ("waits for approval since 14:02:10", "g38 goes on answering until that", "ab" * 32, "EVA-430"):
        assert said in card
    approved = held_card(held(waits_for="restart"), 100, Look(picture=True))
    assert "g38 goes on answering until the runtime starts next" in "\n".join(map(plain, approved))


def test_the_view_lists_what_is_refused_what_waits_and_what_defines_nothing() -> None:
    rows = rejected_rows(
        scene(
            rejections=(refused(),),
            held=(held(), held(id="tide-table", waits_for="trust")),
            idle=(IdleRow(path="capabilities/OLD.YAML", why="only .yaml are manifests"),),
        ),
        Look(),
    )
    shown = [" ".join(plain(cell) for cell in row.cells) for row in rows]
    assert [row.key for row in rows] == ["weather-radar", "radar-feed", "tide-table", "capabilities/OLD.YAML"]
    assert "waits for approval" in shown[1]
    assert "waits for trust" in shown[2]
    assert "only .yaml are manifests" in shown[3]


async def test_who_answers_for_a_shared_name_is_told(console: OpenConsole) -> None:
    rows = (
        capability("greet", 1, behind=("text.greet: other",)),
        capability("other", 2, before=("text.greet: greet",)),
    )
    async with console(scene(capabilities=rows, rejections=())) as it:
        assert "behind text.greet: other" in it.screen
        it.app.pane.rows.move_to("other")
        await it.settle()
        assert "before" in it.screen
