"""The tour as a table: what is said, what is done, and what must then be so."""

from __future__ import annotations

from evatui.console.view.action import View
from evatui.demo import conditions as so
from evatui.demo.acts import call_scale, choose, flip, keys, order, saves, scale, tell, types, verify, view, waits
from evatui.demo.edits import BROKEN, MENDED, SCALE, SECOND, SUBJECT, TRIAL, WIDER
from evatui.demo.step import Step

__all__ = ["STEPS"]

STEPS: tuple[Step, ...] = (
    Step(
        name="load",
        intro="A real runtime, simulated devices, and calls all the time",
        acts=(view(View.REGISTRY), choose(SUBJECT)),
        until=(so.answers_by("one"), so.NOBODY_NOTICED),
        calls=40,
        caption="Every call is answered. Keep an eye on lost and mixed",
        picture="registry",
    ),
    Step(
        name="edit",
        intro="A new version is saved, and nobody stops calling",
        acts=(view(View.REGISTRY), choose(SUBJECT), saves(SECOND)),
        until=(so.answers_by("two"), so.NOBODY_NOTICED),
        calls=40,
        caption="The new version answers. No call was lost on the way",
    ),
    Step(
        name="break",
        intro="Now somebody saves a typo",
        acts=(view(View.REGISTRY), choose(SUBJECT), saves(BROKEN), waits(so.REFUSED)),
        until=(so.REFUSED, so.answers_by("two"), so.NOBODY_NOTICED),
        calls=40,
        caption="Refused. The old version answers on: nobody noticed",
        picture="broken-edit",
    ),
    Step(
        name="why",
        intro="3 says what is wrong with it",
        acts=(view(View.REJECTED), choose(SUBJECT)),
        until=(so.sees("EVA-5", "topic_normalize.lua:", "^^"), so.NOBODY_NOTICED),
        caption="The line, the rule behind it, and how to mend it",
        picture="rejected",
    ),
    Step(
        name="mend",
        intro="The typo is mended and saved",
        acts=(view(View.REGISTRY), choose(SUBJECT), saves(MENDED)),
        until=(so.answers_by("three"), so.NOTHING_REFUSED, so.NOBODY_NOTICED),
        calls=40,
        caption="It serves. No restart, no deploy: a save",
    ),
    Step(
        name="widen",
        intro="The next version wants to read files as well",
        acts=(view(View.REGISTRY), choose(SUBJECT), saves(WIDER)),
        until=(so.HELD, so.answers_by("three"), so.NOBODY_NOTICED),
        calls=40,
        caption="Held: no version helps itself to more rights",
    ),
    Step(
        name="compare",
        intro="3 lists what waits, v shows what it changes",
        acts=(view(View.REJECTED), choose(SUBJECT), keys("v")),
        until=(so.PAGE_OPEN, so.sees("fs.read"), so.NOBODY_NOTICED),
        caption="Permissions come first. A person decides",
        picture="approval",
    ),
    Step(
        name="approve",
        intro="Approved by typing its name: no slip of a finger does it",
        acts=(
            view(View.REGISTRY),
            choose(SUBJECT),
            keys(":"),
            types("approve"),
            keys("enter"),
            waits(so.ASKED_FOR_THE_NAME),
            types(SUBJECT),
            order,
            keys("enter"),
        ),
        until=(so.APPROVED, so.NOBODY_NOTICED),
        calls=40,
        caption="It serves, and the audit log has who said yes",
    ),
    Step(
        name="try",
        intro="A risky version is tried on the calls of one user",
        acts=(saves(TRIAL), waits(so.TAKEN_BACK), view(View.RELOADS)),
        until=(so.TAKEN_BACK, so.NOBODY_NOTICED),
        calls=40,
        caption="It failed too often, so it was taken back by itself",
        picture="reloads",
    ),
    Step(
        name="wait",
        intro="Somebody weighs, and the scale does not answer",
        acts=(scale("mute"), call_scale, view(View.IN_FLIGHT)),
        until=(so.WAITS_FOR_THE_SCALE, so.NOBODY_NOTICED),
        caption="Who calls, for how long, and what the call waits for",
        picture="in-flight",
    ),
    Step(
        name="unplug",
        intro="The scale is unplugged in the middle of that call",
        acts=(
            scale("mute"),
            call_scale,
            view(View.IN_FLIGHT),
            waits(so.WAITS_FOR_THE_SCALE),
            scale("unplug"),
            view(View.DEVICES),
            choose(SCALE),
            tell,
        ),
        until=(so.CALL_CUT_OFF, so.PULLED_DEVICE_SHOWN, so.NOBODY_NOTICED),
        calls=40,
        caption="That one call fails and says why. The others go on",
        picture="devices",
    ),
    Step(
        name="verify",
        intro="Every call left a record. Are all of them still whole?",
        acts=(scale("none"), view(View.AUDIT), verify),
        until=(so.VERIFIED, so.NOBODY_NOTICED),
        caption="They are: each record is chained to the one before it",
        picture="audit",
    ),
    Step(
        name="tamper",
        intro="In a copy of the log, one bit is changed",
        acts=(view(View.AUDIT), flip),
        until=(so.FLIP_FOUND, so.NOBODY_NOTICED),
        caption="Found, and named",
    ),
    Step(
        name="extend",
        intro="7 has what agents and other programs bring along",
        acts=(view(View.EXTENSIONS),),
        until=(so.SKILLS_SHOWN, so.NOBODY_NOTICED),
        caption="Skills with their layers, plugins, MCP servers",
        picture="extensions",
    ),
)
