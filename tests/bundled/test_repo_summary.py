"""``repo.summary``: what lies in a folder, whatever lies there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Summarize = Callable[..., dict[str, Any]]


@pytest.fixture
def summarize(folder: Path, look: Callable[..., dict[str, Any]]) -> Summarize:
    """Writes the files into the folder; the result of the tool."""

    def summarize(files: dict[str, str | bytes] | None = None, **payload: Any) -> dict[str, Any]:
        for name, content in (files or {}).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return look("repo.summary", **payload)

    return summarize


def test_it_counts_files_bytes_and_lines_by_language(summarize: Summarize) -> None:
    png = b"\x89PNG\0" * 40
    result = summarize({"a.py": "one\ntwo\n", "sub/b.py": "three", "c.lua": "x\r\ny\r\n", "logo.png": png})
    assert (result["files"], result["folders"], result["bytes"], result["lines"]) == (4, 2, 219, 5)
    assert result["languages"] == [
        {"language": "Python", "files": 2, "bytes": 13, "lines": 3},
        {"language": "Lua", "files": 1, "bytes": 6, "lines": 2},
    ]
    assert result["extensions"][0] == {"extension": "png", "files": 1, "bytes": 200, "lines": 0}
    assert result["summary"] == "4 files in 2 folders, 219 B, 5 lines of text, mostly Python"
    assert result["complete"] is True


def test_it_shows_how_the_readme_begins(summarize: Summarize) -> None:
    text = "[![build](b.svg)](ci)\n\n# The Thing\n\n![logo](l.png)\n\nIt does\nthings well.\n\nMore.\n"
    result = summarize({"README.md": text, "docs/README.md": "# Another\n"})
    assert result["readme"] == {"path": "README.md", "heading": "The Thing", "paragraph": "It does things well."}


def test_it_knows_underlined_headings(summarize: Summarize) -> None:
    readme = summarize({"README.rst": "Thing\n=====\n\nIt does.\n"})["readme"]
    assert (readme["heading"], readme["paragraph"]) == ("Thing", "It does.")


def test_a_readme_needs_no_heading(summarize: Summarize) -> None:
    readme = summarize({"readme": "Only words\nand words.\n\nNo heading.\n"})["readme"]
    assert readme == {"path": "readme", "paragraph": "Only words and words."}


def test_it_lists_the_biggest_and_the_notable(summarize: Summarize) -> None:
    files: dict[str, str | bytes] = {f"f{n:02}.txt": "x" * n for n in range(20)}
    result = summarize({**files, "LICENSE": "MIT", "sub/package.json": "{}"})
    assert [entry["bytes"] for entry in result["biggest"]] == list(range(19, 9, -1))
    assert result["notable"] == [
        {"path": "LICENSE", "role": "license"},
        {"path": "sub/package.json", "role": "Node project"},
    ]


def test_odd_files_are_skipped_and_the_reason_told(folder: Path, summarize: Summarize) -> None:
    (folder / "link.py").symlink_to("ok.py")
    (folder / "node_modules").mkdir()
    result = summarize({"ok.py": "1\n", "latin.txt": b"caf\xe9", "nul.md": "a\0b", "huge.json": " " * 131_073})
    assert result["lines"] == 1
    skipped = {entry["path"]: entry["reason"] for entry in result["skipped"]}
    assert set(skipped) == {"link.py", "node_modules", "huge.json", "latin.txt", "nul.md"}
    assert skipped["huge.json"] == "too large to read: 131.1 KB"
    assert all(skipped.values())
    assert result["skipped_total"] == 5


def test_it_stops_at_max_files_and_says_so(summarize: Summarize) -> None:
    result = summarize({f"{n}.txt": "x" for n in range(5)}, max_files=3)
    assert result["files"] == 3
    assert result["complete"] is False
    assert result["summary"].endswith("(not everything was looked at)")


def test_many_folders_and_files_stay_within_the_allowed_host_calls(summarize: Summarize) -> None:
    result = summarize({f"d{n}/{m}.txt": "x" for n in range(300) for m in range(3)}, max_files=2000)
    assert (result["files"], result["folders"]) == (900, 301)
    assert result["complete"] is False
    assert "host calls" in result["skipped"][0]["reason"]


def test_it_looks_at_one_folder_however_it_is_spelt(summarize: Summarize) -> None:
    summarize({"src/a.py": "1", "src/README.md": "# Src\n", "b.py": "1"})
    for spelling in ("src", "src/", "./src"):
        result = summarize(path=spelling)
        assert (result["path"], result["files"], result["readme"]["heading"]) == ("src", 2, "Src")


def test_an_empty_folder_has_a_summary_too(summarize: Summarize) -> None:
    assert summarize()["summary"] == "0 files in 1 folder, 0 B, 0 lines of text"
