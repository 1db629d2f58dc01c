"""Pages made from tables say what the tables say."""

from __future__ import annotations

import pytest

from evatui.cli.table import TABLE, shown
from evatui.kernel.admission.codes import CODES
from tests.docs import actions_page, commands_page, events_page, files_page
from tests.docs.errors_page import PAGE, page


def test_the_page_of_codes_is_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it again with: python -m tests.docs.errors_page"


def test_every_code_is_on_the_page() -> None:
    text = page()
    assert [code for code in CODES if f"| {code} |" not in text] == []


def test_the_page_of_commands_is_the_table() -> None:
    text = commands_page.PAGE.read_text(encoding="utf-8")
    assert text == commands_page.page(), "write it again with: python -m tests.docs.commands_page"


@pytest.mark.parametrize("words", sorted(TABLE))
def test_every_command_has_a_summary_and_its_help_shows_the_examples(words: str) -> None:
    command = commands_page.command_of(TABLE[words])
    with command.make_context(f"eva {words}", ["--help"], resilient_parsing=True) as context:
        told = command.get_help(context)
    assert (command.help or "").strip()
    for example in TABLE[words].examples:
        assert shown(example) in told
    assert len(TABLE[words].examples) >= 1


def test_the_page_of_the_console_has_the_table_of_actions() -> None:
    text = actions_page.PAGE.read_text(encoding="utf-8")
    assert text == actions_page.page(text), "write it again with: python -m tests.docs.actions_page"


def test_the_page_of_events_is_the_table() -> None:
    text = events_page.PAGE.read_text(encoding="utf-8")
    assert text == events_page.page(), "write it again with: python -m tests.docs.events_page"


def test_the_page_of_files_is_what_their_schemas_say() -> None:
    text = files_page.PAGE.read_text(encoding="utf-8")
    assert text == files_page.page(), "write it again with: python -m tests.docs.files_page"
