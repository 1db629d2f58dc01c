"""The wheel, with nothing but what it asks for: in an environment of its own, and used from somewhere else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.packages import brought_by

ROOT = Path(__file__).parent.parent


def run(*words: str | Path, cwd: Path) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("EVA_", "PYTHON"))}
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` folder of an environment that holds the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", ".", cwd=ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    venv.create(folder / "venv")
    here = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", here / "python")
    run(*pip, "install", "-q", "--no-index", "--no-deps", wheel, cwd=folder)
    site = Path(
        run(here / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    )
    (metadata,) = site.glob("evatui-*.dist-info")
    for name in brought_by(map(Requirement, Distribution.at(metadata).requires or ())):
        copy(distribution(name), site)
    run(*pip, "check", cwd=folder)
    return here


def copy(package: Distribution, into: Path) -> None:
    """Copies a package that is installed here: fetching it might fail for reasons that are not ours."""
    for file in package.files or ():
        if ".." not in file.parts:  # what is elsewhere are its commands
            target = into / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file.locate(), target)  # with its time, by which Python knows its bytecode again


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_bundled_workspace_travels_in_the_wheel_and_works_from_any_folder(installed: Path, tmp_path: Path) -> None:
    run(installed / "eva", "init", "w", cwd=tmp_path)
    answer = json.loads(run(installed / "eva", "-w", "w", "capability", "list", "-o", "json", cwd=tmp_path))
    rows = answer["data"]["capabilities"]
    assert "topic.normalize" in {name for row in rows for name in row["capabilities"]}
    assert {row["state"] for row in rows} == {"Active"}
    call = ("capability", "call", "topic.normalize", "--payload", '{"topic": " Hot  Reload "}', "-o", "json")
    answer = json.loads(run(installed / "eva", *call, cwd=tmp_path / "w"))
    assert answer["data"]["response"]["ok"] is True
