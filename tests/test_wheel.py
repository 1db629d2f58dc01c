"""The wheel, alone: installed into an empty environment and used from somewhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

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
    pip = (sys.executable, "-m", "pip", "--python", here / "python", "--disable-pip-version-check")
    run(*pip, "install", "-q", "--no-compile", "-c", ROOT / "constraints.txt", wheel, cwd=folder)
    return here


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
