"""``repo.summary``: what lies in a folder, whatever lies there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.bundled.harness import Tool


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def summary(root: Path, **payload: Any) -> dict[str, Any]:
    answer = Tool("repo-summary", root).call(payload)
    assert answer["ok"], answer
    result: dict[str, Any] = answer["result"]
    return result


def test_it_counts_files_bytes_and_lines_by_language(tmp_path: Path) -> None:
    root = write(
        tmp_path, {"a.py": "one\ntwo\n", "sub/b.py": "three", "c.lua": "x\r\ny\r\n", "logo.png": b"\x89PNG\0" * 40}
    )
    result = summary(root)
    assert (result["files"], result["folders"], result["bytes"], result["lines"]) == (4, 2, 219, 5)
    assert result["languages"] == [
        {"language": "Python", "files": 2, "bytes": 13, "lines": 3},
        {"language": "Lua", "files": 1, "bytes": 6, "lines": 2},
    ]
    assert result["extensions"][0] == {"extension": "png", "files": 1, "bytes": 200, "lines": 0}
    assert result["summary"] == "4 files in 2 folders, 219 B, 5 lines of text, mostly Python"
    assert result["complete"] is True


def test_it_shows_how_the_readme_begins(tmp_path: Path) -> None:
    text = "[![build](b.svg)](ci)\n\n# The Thing\n\n![logo](l.png)\n\nIt does\nthings well.\n\nMore.\n"
    result = summary(write(tmp_path, {"README.md": text, "docs/README.md": "# Another\n"}))
    assert result["readme"] == {"path": "README.md", "heading": "The Thing", "paragraph": "It does things well."}


def test_it_knows_underlined_headings_and_readmes_without_one(tmp_path: Path) -> None:
    underlined = summary(write(tmp_path / "a", {"README.rst": "Thing\n=====\n\nIt does.\n"}))["readme"]
    assert (underlined["heading"], underlined["paragraph"]) == ("Thing", "It does.")
    bare = summary(write(tmp_path / "b", {"readme": "Only words\nand words.\n\nNo heading.\n"}))["readme"]
    assert bare == {"path": "readme", "paragraph": "Only words and words."}


def test_it_lists_the_biggest_and_the_notable(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"f{n:02}.txt": "x" * n for n in range(20)}
    result = summary(write(tmp_path, {**files, "LICENSE": "MIT", "sub/package.json": "{}"}))
    assert [entry["bytes"] for entry in result["biggest"]] == list(range(19, 9, -1))
    assert result["notable"] == [
        {"path": "LICENSE", "role": "license"},
        {"path": "sub/package.json", "role": "Node project"},
    ]


def test_odd_files_are_skipped_and_the_reason_told(tmp_path: Path) -> None:
    root = write(tmp_path, {"ok.py": "1\n", "latin.txt": b"caf\xe9", "nul.md": "a\0b", "huge.json": " " * 131_073})
    (root / "link.py").symlink_to("ok.py")
    (root / "node_modules").mkdir()
    result = summary(root)
    assert result["lines"] == 1
    assert [entry["path"] for entry in result["skipped"]] == [
        "link.py",
        "node_modules",
        "huge.json",
        "latin.txt",
        "nul.md",
    ]
    assert all(entry["reason"] for entry in result["skipped"])
    assert result["skipped_total"] == 5


def test_it_stops_at_max_files_and_says_so(tmp_path: Path) -> None:
    result = summary(write(tmp_path, {f"{n}.txt": "x" for n in range(5)}), max_files=3)
    assert result["files"] == 3
    assert result["complete"] is False
    assert result["summary"].endswith("(not everything was looked at)")


def test_many_folders_and_files_stay_within_the_allowed_host_calls(tmp_path: Path) -> None:
    root = write(tmp_path, {f"d{n}/{m}.txt": "x" for n in range(300) for m in range(3)})
    tool = Tool("repo-summary", root)
    answer = tool.call({"max_files": 2000})
    assert answer["result"]["files"] == 900
    assert answer["result"]["complete"] is False
    assert tool.calls <= tool.manifest["limits"]["host_calls"]


def test_it_looks_at_one_folder_however_it_is_spelt(tmp_path: Path) -> None:
    root = write(tmp_path, {"src/a.py": "1", "src/README.md": "# Src\n", "b.py": "1"})
    for spelling in ("src", "src/", "./src"):
        result = summary(root, path=spelling)
        assert (result["path"], result["files"], result["readme"]["heading"]) == ("src", 2, "Src")


def test_an_empty_folder_has_a_summary_too(tmp_path: Path) -> None:
    assert summary(tmp_path)["summary"] == "0 files in 1 folder, 0 B, 0 lines of text"
