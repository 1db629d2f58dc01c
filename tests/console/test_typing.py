"""What is typed: ``:`` with completion and history, the searchable list of keys, and the palette."""

from __future__ import annotations

import pytest

from evatui.console.screens.confirm import Confirm
from evatui.console.screens.finder import Finder
from evatui.console.view.actions import ACTIONS, Actions, View
from evatui.console.view.ink import plain
from evatui.console.view.typed import Typed, candidates, completed, hint, understood
from tests.console.conftest import OpenConsole
from tests.support.pilots import key_event

ALL = Actions(readonly=False)
THINGS = ("repo-summary", "weather-radar", "weather-tides")


def test_every_action_has_a_word_of_its_own() -> None:
    words = [action.word for action in ACTIONS]
    assert len(set(words)) == len(words)
    assert all(understood(word, ALL) == Typed(ALL.find(action.id)) for word, action in zip(words, ACTIONS, strict=True))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "action", "argument"),
    [
        ("drain", "drain", ""),
        ("  drain   weather-radar ", "drain", "weather-radar"),
        ("sort reverse", "sort.reverse", ""),
        ("sort-reverse", "sort.reverse", ""),
        ("registry", "view.registry", ""),
        ("3", "view.rejected", ""),
        ("q", "leave", ""),
        ("?", "help", ""),
    ],
)
def test_a_line_is_an_action_and_what_it_is_about(text: str, action: str, argument: str) -> None:
    typed = understood(text, ALL)
    assert isinstance(typed, Typed)
    assert (typed.action.id, typed.argument) == (action, argument)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "nothing was typed"), ("drian", "drain?"), ("xyzzy", "tab shows"), ("zoom in", "takes nothing after it")],
)
def test_what_is_no_action_says_what_may_have_been_meant(text: str, said: str) -> None:
    typed = understood(text, ALL)
    assert isinstance(typed, str)
    assert said in typed


def test_readonly_knows_no_word_that_changes() -> None:
    assert isinstance(understood("drain weather-radar", Actions(readonly=True)), str)
    assert "drain" not in candidates("", Actions(readonly=True), THINGS, ())


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("dra", ("drain",)),
        ("drain ", ("drain repo-summary", "drain weather-radar")),
        ("drain wea", ("drain weather-radar", "drain weather-tides")),
        ("drain tid", ("drain weather-tides",)),
        ("zoom ", ()),
    ],
)
def test_tab_offers_words_then_names(text: str, first: tuple[str, ...]) -> None:
    assert candidates(text, ALL, THINGS, ())[: len(first)] == first
    if not first:
        assert candidates(text, ALL, THINGS, ()) == ()


def test_tab_goes_round_what_there_is() -> None:
    assert [completed(text, ("a", "b")) for text in ("", "a", "b")] == ["a", "b", "a"]
    assert completed("", ("a", "b"), -1) == "b"
    assert completed("x", ()) == "x"


@pytest.mark.parametrize("text", [action.word for action in ACTIONS])
def test_the_line_below_says_what_a_word_does(text: str) -> None:
    assert plain(hint(text, (text,), ALL)).startswith(text)


async def test_a_command_goes_to_the_thing_that_it_names(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("3", "colon", *"drain topic-n")
        assert "topic-normalize" in it.status
        await it.press("tab", "enter")
        assert it.app.view is View.REGISTRY
        assert it.key == "topic-normalize"
        assert isinstance(it.dialog, Confirm)
        assert "Drain topic-normalize?" in it.screen


async def test_a_name_that_a_filter_hides_is_found_all_the_same(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("slash", *"weath", "enter", "colon", *"open prompt-compose", "enter")
        assert "prompt-compose" in it.screen
        assert it.open_dialogs == 1


async def test_what_cannot_be_meant_is_said(console: OpenConsole) -> None:
    async with console() as it:
        for typed, said in (("drain no-such", "nothing here is called no-such"), ("drian", "drain?")):
            await it.press("colon", *typed, "enter")
            assert said in it.status
            assert it.open_dialogs == 0
            assert it.app.focused is it.app.pane.rows


async def test_tab_goes_through_the_words_and_what_is_typed_begins_anew(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("colon", *"re", "tab")
        first = it.app.frame.command.value
        await it.press("tab")
        second = it.app.frame.command.value
        assert first != second
        assert first.startswith("re")
        assert second.startswith("re")
        await it.press("shift+tab")
        assert it.app.frame.command.value == first


async def test_the_arrows_bring_back_what_was_typed_before(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("colon", *"audit", "enter", "colon", *"registry", "enter", "colon", "up")
        assert it.app.frame.command.value == "registry"
        await it.press("up", "up")
        assert it.app.frame.command.value == "audit"
        await it.press("down", "down")
        assert it.app.frame.command.value == ""
        await it.press("escape")
        assert it.app.view is View.REGISTRY
        assert not it.app.frame.command.is_open


async def test_the_list_of_keys_is_searched_and_runs_what_is_found(console: OpenConsole) -> None:
    async with console() as it:
        it.app.pane.rows.move_to("topic-normalize")
        await it.press("question_mark")
        assert isinstance(it.dialog, Finder)
        await it.press(*"take no new calls")
        assert "drain" in it.screen
        await it.armed()
        await it.press("enter")
        assert "Drain topic-normalize?" in it.screen


async def test_what_the_menu_has_no_room_for_stands_beneath_it(console: OpenConsole) -> None:
    async with console(size=(80, 24)) as it:
        await it.press("a", "j")
        told = " ".join(it.screen.replace("│", " ").split())
        assert "Take no new calls and let the running ones end; y confirms" in told
        await it.press("escape", "question_mark", *"drain!")
        told = " ".join(it.screen.replace("│", " ").split())
        assert "Cut the running calls at once, and take no new ones: type the id" in told


async def test_enter_on_a_list_that_was_not_seen_runs_nothing(console: OpenConsole) -> None:
    async with console(quick=False) as it:
        await it.press("question_mark", *"drain", "enter")
        assert isinstance(it.dialog, Finder)


async def test_the_palette_has_what_is_possible_and_where_to_go(console: OpenConsole) -> None:
    async with console() as it:
        it.app.pane.rows.move_to("weather-tides")
        await it.press("ctrl+p")
        await it.press(*":rollback")
        assert "nothing is called that" in it.screen
        await it.press("escape", "ctrl+p", *"scale")
        await it.armed()
        await it.press("enter")
        assert it.key == "scale-report"
        assert it.open_dialogs == 0


async def test_while_one_types_the_footer_has_the_keys_of_the_line(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("colon")
        assert it.text("#footer").strip() == "tab completes  enter does it  ↑ ↓ typed before  esc back"
        await it.press("escape", "slash")
        assert it.text("#footer").strip() == "enter keeps it  esc shows all"
        await it.press("escape")
        assert "q leave" in it.text("#footer")


async def test_a_line_that_loses_the_keys_is_closed(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("colon", *"dra")
        await it.pilot.click("#registry-rows", offset=(6, 2))
        await it.settle()
        assert not it.app.frame.command.is_open
        assert it.app.focused is it.app.pane.rows


async def test_a_filter_can_be_typed_as_a_command(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("colon", *"filter weath !tides", "enter")
        assert [row.key for row in it.app.pane.rows.shown] == ["weather-radar"]


async def test_a_theme_is_named_or_the_next_one(console: OpenConsole) -> None:
    async with console() as it:
        await it.press("colon", *"theme light", "enter")
        assert it.app.theme == "evatui-light"
        await it.press("colon", *"theme mauve", "enter")
        assert "no theme mauve" in it.status
        await it.press("colon", *"theme", "enter")
        assert it.app.theme not in ("evatui-light", "evatui-dark")


async def test_letters_that_come_before_the_line_is_drawn_are_letters(console: OpenConsole) -> None:
    async with console() as it:
        for keys in (":drain topic-normalize", ":x", "/drain"):
            for sign in keys:
                it.app.post_message(key_event(sign))
            await it.settle()
            assert it.open_dialogs == 0
            line = it.app.frame.command if keys.startswith(":") else it.app.frame.prompt
            assert line.value == keys[1:]
            assert it.operator.commands == []
            await it.press("escape")
