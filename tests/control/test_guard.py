"""What somebody orders of a capability that changed since they looked is refused, by every order and at both doors."""

from __future__ import annotations

from typing import Any

import pytest

from evatui.control.commands import COMMANDS
from evatui.control.failing import CommandFailed
from evatui.control.operator import Operator
from evatui.kernel.model.errors import ErrorKind

GUARDED = sorted(name for name, command in COMMANDS.items() if command.guarded)
MORE: dict[str, dict[str, Any]] = {
    "capability.reload": {"id": None, "ids": ["greet"]},
    "capability.approve": {"digest": "0" * 64},
    "capability.revoke": {"digest": "0" * 64},
    "state.delete": {"all": True},
}


def test_every_order_about_a_capability_is_guarded() -> None:
    of_one = {name for name, command in COMMANDS.items() if command.order} - {"runtime.restart"}
    assert {name for name in of_one if name.startswith(("capability.", "state."))} == set(GUARDED)
    assert "capability.drain" in GUARDED
    assert "capability.call" not in GUARDED


async def test_what_changed_meanwhile_is_left_alone_and_told(operator: Operator) -> None:
    serving = (await operator.run("capability.inspect", id="greet"))["generation"]
    for command in GUARDED:
        params = {"id": "greet", **MORE.get(command, {})}
        with pytest.raises(CommandFailed, match=r"greet changed under you: g\d serves now, not g99") as failed:
            await operator.run(command, if_generation="g99", **params)
        assert failed.value.kind is ErrorKind.CONFLICT
        assert failed.value.context["serving"] == [serving]
    records = (await operator.run("audit.tail", limit=50))["records"]
    assert [r["code"] for r in records if r["code"].startswith(("capability.d", "state."))] == []
    assert (await operator.run("capability.inspect", id="greet"))["generation"] == serving


async def test_what_is_still_so_is_done(operator: Operator) -> None:
    serving = (await operator.run("capability.inspect", id="greet"))["generation"]
    for command in ("capability.reload", "capability.retry", "state.delete", "capability.enable", "capability.drain"):
        params = {"id": "greet", **MORE.get(command, {})}
        await operator.run(command, if_generation=serving, **params)
    with pytest.raises(CommandFailed, match="changed under you: nothing serves now"):
        await operator.run("capability.enable", id="greet", if_generation=serving)


async def test_a_guard_where_there_is_nothing_to_guard_is_not_swallowed(operator: Operator) -> None:
    for command in ("status", "capability.call", "trust.give"):
        with pytest.raises(CommandFailed, match="if_generation") as failed:
            await operator.run(command, if_generation="g1")
        assert failed.value.kind is ErrorKind.INVALID_INPUT, command
