"""The table of the tour, and what is said above the console."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from evatui.console.view.action import View
from evatui.console.view.ink import plain
from evatui.console.view.words import Look
from evatui.control.bundle import bundled_workspace
from evatui.demo import edits
from evatui.demo.band import Caption, board_line, caption_line
from evatui.demo.step import CAPTION_MAX
from evatui.demo.steps import STEPS
from evatui.demo.tally import Tally
from evatui.demo.tour import HINT

SAVES = [save for name in ("SECOND", "BROKEN", "MENDED", "WIDER", "TRIAL", "PATIENT") for save in getattr(edits, name)]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_what_is_said_of_a_step_has_room_on_the_smallest_screen(step: object) -> None:
    for text in (step.intro, step.caption):  # type: ignore[attr-defined]
        assert 0 < cell_len(text) <= CAPTION_MAX
        said = plain(caption_line(Caption(text, f"{len(STEPS)}/{len(STEPS)}", HINT), 79, Look()))
        assert cell_len(said) == 79
        assert text in said
        assert said.endswith(HINT)


def test_every_step_has_a_name_of_its_own_and_waits_for_something() -> None:
    assert len({step.name for step in STEPS}) == len(STEPS)
    assert [step.name for step in STEPS if not step.until] == []


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.path)
def test_every_edit_fits_the_bundled_files(save: edits.Save) -> None:
    bundled = {save.source: (bundled_workspace() / save.source).read_text(encoding="utf-8")}
    made = save.text(bundled)
    assert all(new in made for _, new in save.changes)


def test_an_edit_that_fits_no_more_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="does not have 'one' once"):
        edits.Save("a", "a", (("one", "two"),)).text({"a": "one one"})


def answer(generation: str, by: str | None = None, origin: str | None = None) -> dict[str, object]:
    error = {"kind": "HandlerError", "details": {"origin": origin}} if origin else None
    meta = {"by": by} if by else None
    return {"generation": generation, "response": {"ok": error is None, "error": error, "meta": meta}}


def test_an_answer_by_another_version_than_it_claims_is_mixed() -> None:
    tally = Tally()
    for generation, by in (("g1", None), ("g1", None), ("g2", "two"), ("g1", None)):
        tally.answered(answer(generation, by), 1.0)
    assert (tally.calls, tally.mixed, tally.author("g1"), tally.author("g2")) == (4, 0, "one", "two")
    tally.answered(answer("g1", "two"), 1.0)
    assert tally.mixed == 1


def test_what_no_handler_has_answered_is_lost_and_an_error_of_a_handler_is_an_error() -> None:
    tally = Tally()
    tally.answered(answer("g1", origin="handler"), 1.0)
    tally.answered(answer("g1", origin="kernel"), 1.0)
    tally.unanswered(1.0)
    assert (tally.calls, tally.errors, tally.lost) == (3, 1, 2)


def test_a_swap_is_timed_to_the_first_answer_and_a_trial_is_none() -> None:
    tally = Tally()
    tally.answered(answer("g1"), 1.0)
    tally.ordered(2.0)
    tally.answered(answer("g2", "two"), 2.031)
    tally.answered(answer("g3", "three"), 3.0, tester=True)
    assert tally.swap is not None
    assert (tally.swap.old, tally.swap.new, round(tally.swap.ms or 0)) == ("g1", "g2", 31)


def test_the_rate_is_that_of_the_last_two_seconds() -> None:
    tally = Tally()
    for at in (1.0, 8.5, 9.0, 9.5, 10.0):
        tally.answered(answer("g1"), at)
    assert tally.rate(10.0) == 2.0


@pytest.mark.parametrize("ascii", [False, True])
def test_the_board_has_room_for_all_that_a_long_tour_counts(ascii: bool) -> None:
    tally = Tally(calls=13_910, lost=0, mixed=0, errors=12)
    tally.answered(answer("a"), 1.0)
    tally.ordered(2.0)
    tally.answered(answer("b"), 2.2)
    look = Look(ascii=ascii)
    told = plain(board_line(tally, 240.0, {"a": "g11", "b": "g12"}, 79, look))
    assert look.text("load 240/s · calls 13,912 · lost 0 · mixed 0 · errors 12 · swap g11→g12 200 ms") in told
    assert cell_len(told) == 79
    assert told.isascii() is ascii


def test_there_is_a_picture_of_every_view_and_of_the_broken_edit() -> None:
    names = {step.picture for step in STEPS} - {""}
    assert {path.stem for path in (Path(__file__).parents[2] / "screenshots").glob("*.svg")} == names
    assert {view.value for view in View} | {"broken-edit"} <= names
