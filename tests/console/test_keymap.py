"""Keys of one's own, and what is remembered from one start to the next."""

from __future__ import annotations

import json
import os
import string
from pathlib import Path

import pytest
from textual.keys import _character_to_key

from evatui.console.settings import Settings, load_keymap, load_settings, save_settings
from evatui.console.view.actions import ACTIONS, Actions, View
from evatui.console.view.key_names import key_name, key_sign
from evatui.console.view.keymap import KeymapError, read_keymap
from tests.console.conftest import OpenConsole


@pytest.mark.parametrize("sign", list(string.punctuation + "xX3"))
def test_signs_are_called_as_the_terminal_library_calls_them(sign: str) -> None:
    assert key_name(sign) == _character_to_key(sign)
    assert key_sign(key_name(sign)) == sign


def test_keys_are_signs_names_and_chords_one_or_several() -> None:
    text = '[keys]\ndrain = "X"\n"view.audit" = ["6", "f6"]\ntheme = "ctrl+t, ~"\nundo = ""\nfilter = ","\n'
    assert read_keymap(text) == {
        "drain": "X",
        "view.audit": "6,f6",
        "theme": "ctrl+t,tilde",
        "undo": "",
        "filter": "comma",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[keys]\n\ndrian = 'X'\n", "keymap.toml:3: there is no action drian; drain?"),
        ("[keys]\nxyzzy = 'X'\n", "keymap.toml:2: there is no action xyzzy; docs/console.md has them"),
        ("[kays]\n", "keymap.toml:1: there is no table [kays]"),
        ("[keys]\ndrain = 'shift-x'\n", "keymap.toml:2: there is no key shift-x"),
        ("[keys]\ndrain = 'hyper+x'\n", "keymap.toml:2: there is no key hyper+x"),
        ("[keys]\ndrain = 7\n", "keymap.toml:2: the keys of drain are a text or a list of texts"),
        ("[keys]\ntheme = 'T'\ndrain = 'r'\n", "keymap.toml:2: T is the key of trust already; give trust another one"),
        ("[keys]\ndrain = 'r'\n", "keymap.toml:2: r is the key of reload already"),
        ("[keys]\nhelp = ':'\n", "keymap.toml:2: : is the key of command already"),
        ("[keys\n", "keymap.toml: "),
    ],
)
def test_what_is_wrong_has_its_line_and_what_to_do(text: str, said: str) -> None:
    with pytest.raises(KeymapError) as wrong:
        read_keymap(text)
    assert str(wrong.value).startswith(said)


def test_two_actions_may_change_places() -> None:
    keymap = read_keymap("[keys]\ndrain = 'r'\nreload = 'x'\ncancel = 'f9'\n")
    assert (keymap["drain"], keymap["reload"]) == ("r", "x")


def test_the_keys_as_they_are_clash_nowhere() -> None:
    lines = [f'"{action.id}" = {json.dumps(action.key)}' for action in ACTIONS]
    assert len(read_keymap("[keys]\n" + "\n".join(lines))) == len(ACTIONS)


def test_without_a_file_there_is_nothing_to_change(tmp_path: Path) -> None:
    assert load_keymap(tmp_path) == {}
    (tmp_path / "keymap.toml").write_bytes(b"\xff")
    with pytest.raises(KeymapError, match="no UTF-8"):
        load_keymap(tmp_path)


async def test_a_key_of_ones_own_does_it_and_is_shown_everywhere(console: OpenConsole) -> None:
    async with console(keymap={"drain": "D", "help": "tilde"}) as it:
        it.app.pane.rows.move_to("topic-normalize")
        assert "D drain" in it.text("#footer")
        await it.press("x")
        assert it.open_dialogs == 0
        await it.press("D")
        assert "Drain topic-normalize?" in it.screen
        await it.press("escape", "tilde")
        assert "~" in it.screen
        shown = Actions(readonly=False, keymap={"help": "tilde"}).find("help")
        assert shown is not None
        assert shown.name_of_key == "~"


# --- what is remembered ---------------------------------------------------------------------------


def test_what_is_remembered_comes_back(tmp_path: Path) -> None:
    settings = Settings(theme="evatui-light", view=View.AUDIT, sorts={View.REGISTRY: ("FLY", True)})
    save_settings(tmp_path / "new", settings)
    assert load_settings(tmp_path / "new") == settings
    assert os.listdir(tmp_path / "new") == ["console.json"]


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "{",
        "[]",
        "7",
        '{"theme": 3, "view": "nowhere", "sorts": {"registry": "x", "nowhere": ["A", true]}}',
        pytest.param("[" * 9999, id="deep"),
    ],
)
def test_what_is_broken_is_as_if_never_set(tmp_path: Path, broken: str) -> None:
    (tmp_path / "console.json").write_text(broken)
    assert load_settings(tmp_path) == Settings()


def test_what_the_disk_refuses_is_not_remembered_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    save_settings(tmp_path / "file", Settings())
    assert load_settings(tmp_path / "file") == Settings()


async def test_the_console_begins_as_it_was_left(console: OpenConsole) -> None:
    left = Settings(theme="evatui-light", view=View.REJECTED, sorts={View.REGISTRY: ("CAPABILITY", True)})
    async with console(settings=left) as it:
        assert it.app.theme == "evatui-light"
        assert it.app.view is View.REJECTED
        await it.press("1")
        shown = [row.key for row in it.app.pane.rows.shown]
        assert shown == sorted(shown, reverse=True)
        await it.press("colon", *"theme dark", "enter", "s")
        assert it.app.settings.theme == "evatui-dark"
        assert it.app.settings.view is View.REGISTRY
        assert it.app.settings.sorts[View.REGISTRY] != ("CAPABILITY", True)


async def test_a_theme_or_column_that_is_gone_is_left_out(console: OpenConsole) -> None:
    async with console(settings=Settings(theme="mauve", sorts={View.REGISTRY: ("NOWHERE", False)})) as it:
        assert it.app.theme == "evatui-dark"
        assert it.app.pane.rows.sorted_by is None
