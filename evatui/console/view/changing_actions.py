"""The actions that change something, or call; each with the command that it comes to."""

from __future__ import annotations

from evatui.console.view import enabled as when
from evatui.console.view.action import Action, Takes, View
from evatui.control.commands import Danger

__all__ = ["CHANGING"]

_CALLS = frozenset({View.IN_FLIGHT})
_RUNNING = _CALLS | {View.EXTENSIONS}
_LISTS = frozenset({View.REGISTRY, View.REJECTED})

CHANGING: tuple[Action, ...] = (
    Action(
        id="reload", key="r", label="reload", help="Read the disk again; shows the plan, enter applies it",
        group="Changing", command="capability.reload", views=_LISTS, enabled=when.reloadable,
        in_footer=True, in_menu=True,
        takes=Takes.THING, bulk=True,
    ),
    Action(
        id="reload.all", label="reload all", help="Read everything on the disk again; shows the plan, y applies it",
        group="Changing", command="capability.reload", level=Danger.DIALOG, enabled=when.started,
        in_menu=True, whole=True,
    ),
    Action(
        id="rollback", key="R", label="roll back", help="Serve an earlier generation again: choose, then y",
        group="Changing", command="capability.rollback", views=_LISTS, enabled=when.capability(when.is_restorable),
        in_footer=True, in_menu=True,
        takes=Takes.THING,
    ),
    Action(
        id="drain", key="x", label="drain", help="Take no new calls and let the running ones end; y confirms",
        group="Changing", command="capability.drain", views=_LISTS, enabled=when.capability(when.is_drainable),
        in_footer=True, in_menu=True,
        takes=Takes.THING, bulk=True,
    ),
    Action(
        id="drain.force", label="drain!", help="Cut the running calls at once, and take no new ones: type the id",
        group="Changing", command="capability.drain", level=Danger.TYPED, views=_LISTS,
        enabled=when.capability(when.is_forcible), in_menu=True, takes=Takes.THING,
    ),
    Action(
        id="disable", label="disable", help="Switch it off until it is enabled again; y confirms",
        group="Changing", command="capability.disable", views=_LISTS,
        enabled=when.capability(when.is_disablable), in_menu=True,
        takes=Takes.THING, bulk=True,
    ),
    Action(
        id="enable", label="enable", help="Lift a drain, a disable or a demotion; enter confirms",
        group="Changing", command="capability.enable", views=_LISTS,
        enabled=when.capability(when.is_enablable), in_menu=True,
        takes=Takes.THING, bulk=True,
    ),
    Action(
        id="retry", label="retry", help="Try what the disk holds again, also what was rolled back; enter confirms",
        group="Changing", command="capability.retry", views=_LISTS, enabled=when.capability(when.is_retriable),
        in_menu=True, takes=Takes.THING, bulk=True,
    ),
    Action(
        id="promote", label="promote", help="Let the version that is tried out take all calls; y confirms",
        group="Changing", command="capability.promote", views=_LISTS,
        enabled=when.capability(when.is_tried_out), in_menu=True,
        takes=Takes.THING, bulk=True,
    ),
    Action(
        id="abort", label="abort", help="Take the version that is tried out back; y confirms",
        group="Changing", command="capability.abort", views=_LISTS,
        enabled=when.capability(when.is_tried_out), in_menu=True,
        takes=Takes.THING, bulk=True,
    ),
    Action(
        id="pause", label="pause", help="Let the time of the canary stand still; y confirms",
        group="Changing", command="capability.pause", views=_LISTS,
        enabled=when.capability(when.is_pausable), in_menu=True,
        takes=Takes.THING, bulk=True,
    ),
    Action(
        id="resume", label="resume", help="Let the time of the canary go on; enter confirms",
        group="Changing", command="capability.resume", views=_LISTS,
        enabled=when.capability(when.is_resumable), in_menu=True,
        takes=Takes.THING, bulk=True,
    ),
    Action(
        id="undo", key="z", label="undo", help="Undo what was just done, or ordered of it last; enter confirms",
        group="Changing", command="capability.undo", views=_LISTS, enabled=when.capability(when.anything), in_menu=True,
        takes=Takes.THING,
    ),
    Action(
        id="approve", label="approve", help="Let the version that waits go into service: type the id",
        group="Changing", command="capability.approve", views=_LISTS, enabled=when.held(when.approvable), in_menu=True,
        takes=Takes.THING,
    ),
    Action(
        id="revoke", label="revoke", help="Take an approval back that has not taken effect; enter confirms",
        group="Changing", command="capability.revoke", views=_LISTS, enabled=when.held(when.revocable), in_menu=True,
        takes=Takes.THING,
    ),
    Action(
        id="trust", key="T", label="trust", help="Trust the workspace: shows with what, y confirms",
        group="Changing", command="trust.give", enabled=when.trustable, in_footer=True, in_menu=True, whole=True,
    ),
    Action(
        id="distrust", label="distrust", help="Trust the workspace with nothing any more; y confirms",
        group="Changing", command="trust.revoke", enabled=when.distrustable, in_menu=True, whole=True,
    ),
    Action(
        id="restart", label="restart", help="Let calls end and build the runtime anew; y confirms",
        group="Changing", command="runtime.restart", enabled=when.restartable, in_menu=True, whole=True,
    ),
    Action(
        id="freeze", label="freeze", help="Let files and canaries wait until thaw; enter confirms",
        group="Changing", command="runtime.freeze", enabled=when.freezable, in_menu=True, whole=True,
    ),
    Action(
        id="thaw", label="thaw", help="Publish what has waited since freeze; y confirms",
        group="Changing", command="runtime.thaw", enabled=when.thawable, in_menu=True, whole=True,
    ),
    Action(
        id="call", key="c", label="call", help="Call it with a JSON payload: ctrl+s sends",
        group="Changing", command="capability.call", views=_LISTS, enabled=when.capability(when.is_callable),
        in_footer=True, in_menu=True,
        takes=Takes.THING,
    ),
    Action(
        id="fix", key="F", label="fix", help="Write the repair that needs no thought: shows it, enter writes",
        group="Changing", level=Danger.PLAN, views=frozenset({View.REJECTED}), enabled=when.fixable,
        in_footer=True, in_menu=True, takes=Takes.THING,
    ),
    Action(
        id="cancel", key="x", label="cancel", group="Changing", command="call.cancel", views=_RUNNING,
        help="End the call or task, or those marked; enter confirms, or y where it may have changed something",
        enabled=when.is_in_flight, in_footer=True, in_menu=True,
    ),
    Action(
        id="cancel-all", label="cancel all", group="Changing", command="call.cancel", level=Danger.DIALOG, views=_CALLS,
        help="End all calls on its generation; y confirms", enabled=when.is_on_a_generation, in_menu=True,
    ),
)  # fmt: skip
