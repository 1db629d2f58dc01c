"""The ground that the project stands on: its folders, its pins, and the two commands."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.packages import brought_by

ROOT = Path(__file__).parent.parent
FOLDERS = {"evatui", "capabilities", "schemas", "tests", "screenshots", "docs"}
PIN = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[0-9][0-9a-z.]*)")


def tracked() -> list[str]:
    """Every file of the project, but not what lies about in a working copy."""
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    return [name for name in done.stdout.decode().splitlines() if (ROOT / name).is_file()]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = [PIN.fullmatch(line) for line in lines if not line.startswith("#")]
    assert None not in found, "constraints.txt holds name==version lines, and comments, and nothing else"
    return {match["name"]: match["version"] for match in found if match}


def needed() -> set[str]:
    """Every package that an install with the ``dev`` extra brings, by following what each asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = project["dependencies"] + project["optional-dependencies"]["dev"]
    return brought_by(map(Requirement, asked))


def test_there_is_no_other_folder_at_the_top() -> None:
    tops = {name.split("/")[0] for name in tracked() if "/" in name}
    assert {top for top in tops if not top.startswith(".")} <= FOLDERS


def test_every_package_that_is_installed_is_pinned_and_installed_as_pinned() -> None:
    pinned = pins()
    assert needed() - set(pinned) == set()
    for name, version in pinned.items():
        try:
            assert distribution(name).version == version
        except PackageNotFoundError:
            pytest.fail(f"{name} is pinned, but nothing installs it")


def test_the_pins_name_no_place_to_fetch_from() -> None:
    assert "//" not in (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_no_file_names_a_folder_of_somebodys_machine() -> None:
    places = re.compile(rb"(?<![\w.~-])/(?:home/[a-z]|Users/[A-Za-z]|root/|work/)")
    assert [name for name in tracked() if places.search((ROOT / name).read_bytes())] == []


def make_venv(folder: Path, commands: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs .ci/venv in a copy of the ground, where only ``commands`` and a few of the system's are found."""
    (folder / ".ci").mkdir(parents=True)
    for name in ("pyproject.toml", "constraints.txt", ".ci/venv"):
        shutil.copy(ROOT / name, folder / name)
    found = folder / "bin"
    found.mkdir()
    for tool in ("sh", "cat", "cksum", "dirname", "grep", "rm"):
        (found / tool).symlink_to(str(shutil.which(tool)))
    for name, body in commands.items():
        (found / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (found / name).chmod(0o755)
    env = {"PATH": str(found)}
    return subprocess.run([folder / ".ci" / "venv", "run"], env=env, capture_output=True, text=True, check=False)


def test_an_old_python_is_named_with_what_is_needed(tmp_path: Path) -> None:
    old = 'case "$2" in *print*) echo 3.9 ;; *) exit 1 ;; esac'
    done = make_venv(tmp_path / "p", {"python3": old})
    assert done.returncode == 1
    assert "error: Python 3.11 or newer is needed; python3 is 3.9;" in done.stderr
    assert "try: install python3.11 or newer" in done.stderr


def test_a_python_without_venv_names_the_one_package_to_install(tmp_path: Path) -> None:
    bare = 'case "$2" in *ensurepip*) exit 1 ;; *print*) echo 3.12 ;; esac'
    done = make_venv(tmp_path / "p", {"python3.12": bare})
    assert done.returncode == 1
    assert "apt install python3.12-venv" in done.stderr


def test_no_python_at_all_is_said_plainly(tmp_path: Path) -> None:
    done = make_venv(tmp_path / "p", {})
    assert done.returncode == 1
    assert "error: Python 3.11 or newer is needed; none was found;" in done.stderr
