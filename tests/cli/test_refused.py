"""What a person is told of a refused version: whose it is, and what serves meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evatui.cli.main import run
from tests.support.workspaces import EVERYTHING, tool, write

OK = "function invoke(ctx, request) return {ok = true, result = 1} end"
Explained = Callable[..., list[str]]


@pytest.fixture
def explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Explained:
    """The lines about one refused file: its heading, and what serves."""
    write(tmp_path, {"capabilities/policies/p.yaml": EVERYTHING, **tool("one", OK)})
    assert run(["-w", str(tmp_path), "capability", "call", "test.one"]) == 0
    capsys.readouterr()

    def explained(files: dict[str, str]) -> list[str]:
        write(tmp_path, files)
        assert run(["-w", str(tmp_path), "capability", "explain-rejected"]) == 0
        lines = capsys.readouterr().out.splitlines()
        return [line for line in lines if line.startswith("✗") or ("serve" in line and "=" not in line)]

    return explained


def test_what_never_served_is_said_to_have_nothing_in_its_place(explained: Explained) -> None:
    assert explained(tool("bad", "function oops(")) == ["✗  bad  capabilities/bad.yaml", "nothing serves in its place"]


def test_the_generation_before_is_named(explained: Explained) -> None:
    heading, serving, _ = explained(tool("one", "function oops("))
    assert (heading, serving) == ("✗  one  capabilities/one.yaml", "g1 still serves")


def test_a_file_that_has_lost_its_id_is_named_by_the_one_it_had(explained: Explained) -> None:
    heading, serving, _ = explained({"capabilities/one.yaml": "id: ["})
    assert (heading, serving) == ("✗  one (without a usable id)  capabilities/one.yaml", "g1 still serves")


def test_a_file_that_never_had_an_id_is_no_capability(explained: Explained) -> None:
    said = explained({"capabilities/new.yaml": "id: ["})
    assert said == ["✗  a manifest without a usable id  capabilities/new.yaml", "nothing serves in its place"]


def test_a_second_file_with_the_id_of_one_that_serves_says_that_it_does(explained: Explained) -> None:
    copy = {"capabilities/copy.yaml": tool("one", OK)["capabilities/one.yaml"]}
    assert explained(copy)[:2] == ["✗  one  capabilities/copy.yaml", "g1 still serves"]


def test_nothing_is_said_to_serve_in_the_place_of_a_broken_policy(explained: Explained) -> None:
    said = explained({"capabilities/policies/p.yaml": "version: 2\n"})
    assert said[-1] == "✗  capabilities/policies/p.yaml"
