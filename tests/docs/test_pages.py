"""Pages made from tables say what the tables say."""

from __future__ import annotations

from evatui.kernel.admission.codes import CODES
from tests.docs.errors_page import PAGE, page


def test_the_page_of_codes_is_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it again with: python -m tests.docs.errors_page"


def test_every_code_is_on_the_page() -> None:
    text = page()
    assert [code for code in CODES if f"| {code} |" not in text] == []
