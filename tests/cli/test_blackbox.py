"""The `eva` command as a script meets it: its output and its exit code; a process where that is what is looked at."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.main import run as eva
from evatui.kernel.lua import sandbox_facts
from tests.cli.real import holding
from tests.support.programs import EVA
from tests.support.workspaces import GREETER, INPUT, MANIFEST, SCRIPT, tool, write


@dataclass(frozen=True, slots=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(*words: str, cwd: Path) -> Done:
    """In this process: starting one takes twenty times as long as what it is asked."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = eva(words)
    return Done(code, out.getvalue(), err.getvalue())


def answer(*words: str, cwd: Path) -> tuple[int, dict[str, Any]]:
    done = run(*words, "-o", "json", cwd=cwd)
    said = json.loads(done.stdout)
    assert said["exit_code"] == done.returncode
    assert said["ok"] == (done.returncode in (0, 10))
    assert "Traceback" not in done.stderr
    return done.returncode, said


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, GREETER)
    return root


@pytest.fixture
def served(workspace: Path) -> Iterator[subprocess.Popen[str]]:
    """A runtime without a screen that holds the workspace."""
    serving = subprocess.Popen([*EVA, "serve", "-o", "json"], cwd=workspace, stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    first = json.loads(serving.stdout.readline())
    assert first["event"] == "serving"
    yield serving
    if serving.poll() is None:
        serving.send_signal(signal.SIGTERM)
    serving.communicate(timeout=60)


def test_a_call_from_a_folder_below(workspace: Path) -> None:
    code, said = answer("capability", "call", "text.greet", "--payload", '{"name": "ann"}', cwd=workspace / "schemas")
    assert code == 0
    assert said["data"]["response"]["result"] == {"text": "hello ann", "by": "one"}
    assert said["data"]["capability_id"] == "greet"
    code, said = answer("audit", "tail", cwd=workspace)
    assert "call.ok" in [record["code"] for record in said["data"]["records"]]


def test_exit_codes_tell_what_went_wrong(workspace: Path) -> None:
    fails = 'function invoke(ctx, request) error("no scale") end'
    spins = "function invoke(ctx, request) while true do end end"
    write(workspace, {**tool("fails", fails), **tool("spins", spins, limits="{timeout_ms: 100}")})
    expected = {
        ("capability", "call", "text.greet"): (2, "InvalidInput"),
        ("capability", "call", "no.such"): (2, "NotFound"),
        ("capability", "call", "test.fails"): (6, "HandlerError"),
        ("capability", "call", "test.spins"): (5, "Timeout"),
        ("capability", "reload"): (4, "Unavailable"),
        ("capability", "inspect", "nobody"): (2, "NotFound"),
        ("capability", "explode"): (64, "InvalidInput"),
    }
    for words, (code, kind) in expected.items():
        got, said = answer(*words, cwd=workspace)
        assert (got, said["error"]["kind"]) == (code, kind), words


def test_every_refusal_has_its_place_and_reads_like_a_compilers(workspace: Path) -> None:
    write(workspace, {"capabilities/greet.yaml": MANIFEST.replace("timeout_ms", "timout_ms")})
    code, said = answer("capability", "explain-rejected", "greet", cwd=workspace)
    assert code == 0
    (rejection,) = said["data"]["rejections"]
    first = rejection["diagnostics"][0]
    assert (first["reason"], first["spans"][0]["line"]) == ("manifest_invalid", 11)
    done = run("capability", "explain-rejected", cwd=workspace)
    assert "capabilities/greet.yaml:11:" in done.stdout
    assert "timeout_ms" in done.stdout
    assert "^" in done.stdout


def test_a_broken_settings_file_is_explained(workspace: Path) -> None:
    write(workspace, {"eva.yaml": "watch: {debounce: 3}\n"})
    code, said = answer("capability", "list", cwd=workspace)
    assert code == 2
    assert "debounce_ms" in json.dumps(said["error"])
    write(workspace, {"eva.yaml": "watch: {debounce: 3}\nruntime: {mode: nromal}\n"})
    done = run("capability", "list", cwd=workspace)
    assert done.returncode == 2
    assert "eva.yaml:1:9" in done.stderr
    assert "2 | runtime: {mode: nromal}\n  |                 ^^^^^^\n" in done.stderr


def test_no_workspace_says_how_to_make_one(tmp_path: Path) -> None:
    code, said = answer("capability", "list", cwd=tmp_path)
    assert code == 2
    assert "eva init" in said["error"]["suggestion"]
    code, said = answer("-w", str(tmp_path / "nowhere"), "capability", "list", cwd=tmp_path)
    assert code == 2


def test_the_doctor_needs_neither_a_workspace_nor_a_sound_one(workspace: Path, tmp_path: Path) -> None:
    code, said = answer("doctor", cwd=tmp_path)
    assert (code, said["data"]["lock"], said["data"]["permissions"]) == (0, None, None)
    walls = next((check["detail"] for check in said["data"]["checks"] if check["name"] == "OS sandbox"), "none at all")
    facts = sandbox_facts()
    assert ("seccomp" in walls, f"Landlock ABI {facts.landlock_abi}" in walls) == (
        facts.process,
        facts.landlock_abi > 0,
    )
    (workspace / ".eva").mkdir(mode=0o700)
    (workspace / ".eva/state.db").write_bytes(b"no database" * 500)
    code, said = answer("doctor", cwd=workspace)
    (unfit,) = [check for check in said["data"]["checks"] if check["name"] == "runtime"]
    assert (code, unfit["ok"], bool(unfit["fix"])) == (0, False, True)
    assert said["data"]["permissions"]["state"]["writable"]
    assert str(tmp_path) not in json.dumps(said)


def test_an_empty_workspace_lists_nothing(tmp_path: Path) -> None:
    (tmp_path / "capabilities").mkdir()
    code, said = answer("capability", "list", cwd=tmp_path)
    assert (code, said["data"]["capabilities"]) == (0, [])


@pytest.fixture
def held(workspace: Path) -> Iterator[None]:
    with holding(workspace):
        yield


def test_commands_go_to_the_runtime_that_holds_the_workspace(workspace: Path, held: None) -> None:
    _, said = answer("status", cwd=workspace)
    assert said["data"]["runtime"]["pid"] == os.getpid()
    write(workspace, {"capabilities/tools/greet.lua": SCRIPT.replace("one", "two")})
    code, said = answer("capability", "reload", cwd=workspace)
    assert (code, said["data"]["applied"]) == (0, True)
    _, said = answer("capability", "call", "text.greet", "--payload", '{"name": "x"}', cwd=workspace)
    assert said["data"]["response"]["result"]["by"] == "two"
    code, said = answer("capability", "rollback", "greet", cwd=workspace)
    assert (code, said["data"]["action"]) == (0, "rollback")
    code, said = answer("capability", "drain", "greet", cwd=workspace)
    assert (code, said["data"]["to"]) == (0, None)
    code, said = answer("capability", "call", "text.greet", "--payload", '{"name": "x"}', cwd=workspace)
    assert (code, said["error"]["kind"]) == (4, "Unavailable")
    code, _ = answer("capability", "enable", "greet", cwd=workspace)
    assert code == 0


def test_a_dry_run_says_what_would_change_and_changes_nothing(workspace: Path) -> None:
    with holding(workspace):
        write(workspace, {"schemas/greet.input.json": INPUT.replace("false", "true")})
        code, said = answer("capability", "reload", "--dry-run", "--exit-code", cwd=workspace)
    assert code in (0, 10)  # the watcher may have been quicker
    assert said["data"]["applied"] is False


def test_serve_is_restarted_told_so_and_ends_cleanly_and_a_second_one_names_it(
    workspace: Path, served: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.control.kernel.LOCK_WAIT_S", 0.0)
    done = run("serve", cwd=workspace)
    assert (done.returncode, str(served.pid) in done.stderr) == (4, True), done.stderr
    code, said = answer("runtime", "restart", cwd=workspace)
    assert (code, said["data"]["pid"]) == (0, served.pid)
    assert served.stdout is not None
    told = json.loads(served.stdout.readline())
    assert (told["event"], told["pid"]) == ("restarted", served.pid)
    write(workspace, {"eva.yaml": "runtime: {mode: nromal}\n"})
    done = run("runtime", "restart", cwd=workspace)
    assert (done.returncode, "eva.yaml:1:" in done.stderr) == (2, True), done.stderr
    (workspace / "eva.yaml").unlink()
    served.send_signal(signal.SIGTERM)
    out, _ = served.communicate(timeout=60)
    assert served.returncode == 0
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["draining", "stopped"]
    _, said = answer("audit", "tail", cwd=workspace)
    assert said["data"]["records"][-1]["code"] == "runtime.stopped"


def test_the_environment_and_files_outside_never_show(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVA_TOKEN", "hunter2")
    leaky = 'function invoke(ctx, request) return {ok = true, result = ctx.host.fs_read_text{path = "../secret"}} end'
    write(workspace, tool("leaky", leaky, permissions="{fs: {read: [workspace]}}"))
    grant = 'version: 1\ngrants: [{match: {ids: ["*"]}, fs: {read: [workspace]}}]\n'
    write(workspace, {"capabilities/policies/default.yaml": grant})
    (workspace.parent / "secret").write_text("swordfish")
    done = run("capability", "call", "test.leaky", cwd=workspace)
    assert done.returncode == 6  # the handler let the refusal through
    for hidden in ("swordfish", "hunter2", str(workspace.parent)):
        assert hidden not in done.stdout + done.stderr


def test_a_runtime_whose_workspace_another_one_took_says_so_and_ends(
    served: subprocess.Popen[str], workspace: Path
) -> None:
    served.send_signal(signal.SIGSTOP)  # it looks once a second, and would take the workspace again
    (workspace / ".eva").rename(workspace / ".eva.gone")
    with holding(workspace):
        served.send_signal(signal.SIGCONT)
        assert served.stdout is not None
        told = [json.loads(line) for line in served.stdout]
        assert [step["event"] for step in told] == ["lost", "draining", "stopped"]
        assert f"pid {os.getpid()}" in told[0]["cause"]
        assert served.wait(60) == 4
        code, said = answer("status", cwd=workspace)
        assert (code, said["data"]["runtime"]["pid"]) == (0, os.getpid())


def test_a_flipped_byte_in_the_audit_log_is_named(workspace: Path) -> None:
    code, said = answer("audit", "verify", cwd=workspace)
    assert (code, said["data"]["records"]) == (0, 0)
    for name in ("ann", "bob"):
        answer("capability", "call", "text.greet", "--payload", json.dumps({"name": name}), cwd=workspace)
    code, said = answer("audit", "verify", cwd=workspace)
    assert (code, said["data"]["ok"]) == (0, True)
    (log,) = (workspace / ".eva/audit").glob("*.jsonl")
    lines = log.read_bytes().split(b"\n")
    lines[2] = lines[2].replace(b'"outcome":"ok"', b'"outcome":"OK"')
    log.write_bytes(b"\n".join(lines))
    code, said = answer("audit", "verify", cwd=workspace)
    assert (code, said["data"]["first_bad"]["seq"]) == (2, 3)


def test_an_untrusted_workspace_is_trusted_by_hand_and_a_change_behind_its_back_waits_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "ws"
    monkeypatch.setenv("EVA_CONFIG_DIR", str(tmp_path / "config"))
    script = "function invoke(ctx, request) return {ok = true, result = 1} end"
    write(
        root,
        {
            **tool("net", script, permissions="{network: {hosts: [example.org]}}"),
            "capabilities/policies/p.yaml": "version: 1\ngrants:\n"
            "  - match: {ids: [net]}\n    network: {hosts: [example.org]}\n",
        },
    )

    def ask(*words: str) -> tuple[int, dict[str, Any]]:
        return answer(*words, cwd=root)

    def reason() -> object:
        return ask("capability", "list")[1]["data"]["capabilities"][0]["reason"]

    assert reason() == "approval_required"
    assert ask("capability", "reload", "--dry-run")[0] == 3
    assert ask("capability", "call", "test.net")[0] == 2
    code, told = ask("trust", "--dry-run")
    assert [part["status"] for part in told["data"]["parts"]] == ["held"]
    code, told = ask("trust", "--digest", told["data"]["digest"])
    assert (code, [part["status"] for part in told["data"]["parts"]]) == (0, ["trusted"])
    assert ask("capability", "call", "test.net")[0] == 0
    write(root, {"capabilities/tools/net.lua": script.replace("1", "2")})
    assert reason() == "approval_required"
    text = run("capability", "explain-rejected", cwd=root).stdout
    assert "capabilities/tools/net.lua: changed" in text
    assert ask("trust", str(root))[0] == 0
    assert ask("trust", "--revoke")[0] == 0
    assert reason() == "approval_required"
    assert str(tmp_path) not in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("capability call greet --payload -", "stdin cannot be read: it is closed"),
        ("mcp serve --stdio", "one of them is closed"),
    ],
)
def test_whoever_reads_standard_input_says_that_it_is_closed(workspace: Path, words: str, said: str) -> None:
    line = f"exec {shlex.join(EVA)} {words} <&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, cwd=workspace, timeout=100)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
