"""Every example that the table of commands has, and so the page of commands and each `--help`, does what it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from evatui.cli.main import run
from evatui.cli.table import TABLE, shown
from evatui.control.bundle import init_workspace
from tests.cli.real import holding
from tests.docs.shown import ROOT
from tests.support.plugins import program
from tests.support.programs import EVA
from tests.support.workspaces import save, write

REFUSED: Mapping[int, str] = {
    2: """
        eva capability reload topic-normalize --plan DIGEST
        eva capability explain-rejected repo-summary --digest 1f3a
        eva capability drain topic-normalize --if-generation g3
        eva capability rollback topic-normalize --to g2
        eva capability diff topic-normalize g2 disk
        eva capability promote topic-normalize
        eva capability abort topic-normalize
        eva capability pause topic-normalize
        eva capability resume topic-normalize
        eva capability approve repo-summary --digest DIGEST
        eva capability approve repo-summary --digest DIGEST --revoke
        eva state get topic-normalize counter
        eva state delete topic-normalize counter
        eva hardware release scale.main --force
        eva hardware bind scale.main --remove
        eva plugin verify word-stats
        eva cancel req_5f1c9e2b7a
        eva cancel g3
        eva cancel task_0c4d
        eva mcp probe files
        eva mcp approve files
        eva mcp approve files read_text --revoke
    """,
    4: """
        eva hardware inspect serial:0403:6001:s.FT-1234
        eva hardware bind serial:1a86:7523:t.1-2.3 scale.main
        eva hardware claim scale.main --again
    """,
}
"""By exit code: such a digest, canary, device, server, call or stored value is not there, and that is the answer."""
CODES = {line.strip(): code for code, told in REFUSED.items() for line in told.strip().splitlines()}
UNAVAILABLE = 4


@dataclass(frozen=True, slots=True)
class Ground:
    root: Path
    places: Mapping[str, str]
    """What only this workspace can name, by the word that stands for it."""

    def changed(self, id: str) -> None:
        """There is a generation before the one that serves."""
        script = next(self.root.glob(f"capabilities/tools/{id.replace('-', '_')}.lua"))
        assert run(["capability", "enable", id]) == 0
        save(self.root, str(script.relative_to(self.root)), f"{script.read_text()}-- again\n")
        assert run(["capability", "reload", id]) == 0

    def made_ready_for(self, line: str) -> None:
        """What whoever follows a page has done before, or has undone since."""
        words = shlex.split(line)[1:]
        match words:
            case ["capability", "rollback" | "diff" | "drain", id, *_]:
                self.changed(id)
            case ["capability", "undo", id, *_]:
                self.changed(id)
                assert run(["capability", "disable", id]) == 0
            case ["capability", "route", "topic.normalize", *_]:
                assert run(["capability", "enable", "topic-normalize"]) == 0
            case ["plugin", "keygen", file] | ["bundle", file]:
                Path(file).unlink(missing_ok=True)
            case ["init", folder, *_]:
                shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Ground]:
    """A new workspace that a runtime holds, the plugin of its page, an exported log and a key; and an empty home."""
    root = tmp_path / "ws"
    init_workspace(root)
    write(root, {**word_stats(), "request.json": '{"topic": "Weather"}'})
    (root / "plugins/word-stats/word-stats").chmod(0o755)
    (tmp_path / ".config/fish/completions").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    for name, value in {"EVA_TRUST": "1", "HOME": str(tmp_path), "EVA_CONFIG_DIR": str(tmp_path / "config")}.items():
        monkeypatch.setenv(name, value)
    program(tmp_path / "bin/eva", f'exec {shlex.join(EVA)} "$@"')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(root)
    with holding(root):
        assert run(["plugin", "keygen", "plugins.key"]) == 0
        capsys.readouterr()
        assert run(["capability", "call", "repo.summary", "-o", "json"]) == 0
        request = json.loads(capsys.readouterr().out)["data"]["request_id"]
        assert bash("eva audit export > export.jsonl") == 0
        key = json.loads((root / "export.jsonl").read_text().splitlines()[0])["audit_head"]["key"]
        yield Ground(root, {"req_5f1c9e2b7a": request, "KEY": key})


def word_stats() -> dict[str, str]:
    """The plugin of its page."""
    text = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    manifest, program = (re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("json", "sh"))
    assert manifest
    assert program
    return {"plugins/word-stats/manifest.json": manifest[1], "plugins/word-stats/word-stats": program[1]}


def examples() -> list[str]:
    """But for what goes on until it is told to end."""
    every = (shown(example) for line in TABLE.values() for example in line.examples)
    return [one for one in every if not re.match(r"eva (mcp )?serve|.* --follow", one)]


def test_every_example_does_what_it_says(ground: Ground, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(CODES) <= set(examples())
    wrong = []
    for line in examples():
        ground.made_ready_for(line)
        capsys.readouterr()
        if (code := typed(line, ground.places)) != CODES.get(line, 0):
            wrong.append(f"`{line}` ends with {code}: {capsys.readouterr().err}")
    assert not wrong, "\n".join(wrong)


def typed(line: str, places: Mapping[str, str]) -> int:
    if re.search(r"[>$]", line):
        return bash(line)
    return run([places.get(word, word) for word in shlex.split(line)[1:]])


def bash(line: str) -> int:
    return subprocess.run(["bash", "-c", line], capture_output=True, check=False).returncode
