"""Every command of the table, in every situation: the documented exit code, one JSON object, never a traceback."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest

from evatui.cli.main import run
from evatui.cli.session import Connect
from evatui.cli.table import TABLE, Line
from evatui.cli.words import eva
from evatui.control.bundle import init_workspace
from evatui.control.commands import COMMANDS, Danger
from evatui.control.kernel import Kernel
from evatui.control.layouts import layout_of
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode, open_workspace, operator_actor, start_kernel
from evatui.control.operator import Operator
from evatui.kernel.model.call import CallerType

ANN = operator_actor(CallerType.CLI)
OK, INVALID, POLICY, UNAVAILABLE, USAGE = 0, 2, 3, 4, 64
CONFLICTS = {"capability rollback", "capability promote", "capability abort", "capability pause", "capability resume"}
"""There is nothing that they could do it to in a workspace where nothing has happened."""
NONE_THERE = (
    "capability approve",
    "capability diff",
    "state get",
    "state delete",
    "cancel",
    "mcp probe",
    "mcp approve",
    "plugin call",
    "plugin verify",
    "plugin sign",
)
ANSWERS = dict.fromkeys((*CONFLICTS, *NONE_THERE), INVALID)
ANSWERS |= {"hardware bind": UNAVAILABLE, "hardware release": INVALID}
"""No such device is plugged in, and nobody has claimed one."""
LOG = {"audit tail", "audit query", "audit verify", "audit export"}
MADE = {
    "init": ("demo",),
    "bundle": ("report.zip",),
    "plugin keygen": ("plugins.key",),
    "capability new": ("**/word-count*", "**/word_count*", "**/*.luarc.json"),
}
"""What they leave in the workspace, by pattern."""
QUICK = {"serve": ("--idle-exit", "0.01"), "bundle": ("--no-picture",)}
STREAMS = {"serve", "audit export"}
"""One object a line."""
OTHERS = {"mcp serve"}
"""Its standard output is another program's: ``tests/mcp`` has its own."""
LINES = [pytest.param(line, id=line.words) for line in TABLE.values() if line.words not in OTHERS]


def leaves(command: click.Command, *words: str) -> Iterator[str]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            assert member is not None
            yield from leaves(member, *words, name)
    else:
        yield " ".join(words)


def test_the_table_has_every_command_and_asks_for_known_ones() -> None:
    assert sorted(leaves(eva)) == sorted(TABLE)
    asked = {line.asks for line in TABLE.values()} - {""}
    assert asked <= set(COMMANDS)
    of_clients = {"mcp.identify", "mcp.tools", "mcp.call", "mcp.leave", "mcp.prompt", "mcp.prompts"}
    elsewhere = of_clients | {
        "capability.plan",
        "capability.validate",
        "capability.keep_example",
        "capability.revoke",
        "capability.undo_plan",
        "trust.show",
        "trust.revoke",
        "mcp.servers",
        "mcp.revoke",
    }
    assert set(COMMANDS) - asked - elsewhere == set()


def test_the_list_of_commands_says_what_they_say_of_themselves() -> None:
    context = click.Context(eva)
    for name, member in eva._members.items():
        command = eva.get_command(context, name)
        assert command is not None
        assert (command.name, bool(member.about.strip())) == (name, True)
        first = command.help.split("\n\n")[0].replace("\n", " ").split()
        said = member.about.rstrip(".").split()
        assert set(said) & set(first), name


def command(line: Line) -> click.Command:
    found: click.Command | None = eva
    for word in line.words.split():
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), word)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The workspace of the examples, with one of the bundled capabilities, and nothing of the operator's own."""
    root = tmp_path_factory.mktemp("every") / "ws"
    init_workspace(root)
    for manifest in (root / "capabilities").glob("*.yaml"):
        if manifest.stem != "topic-normalize":
            manifest.unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVA_CONFIG_DIR", str(root.parent / "config"))
        patch.setenv("EVA_TRUST", "1")
        patch.delenv("EVA_STATE_DIR", raising=False)
        patch.setattr("evatui.control.kernel.LOCK_WAIT_S", 0.0)
        patch.setattr("evatui.control.serving._TICK_S", 0.01)
        yield root


@pytest.fixture(scope="module")
def runtime(ground: Path) -> Iterator[Kernel]:
    kernel = start_kernel(layout_of(ground, None), writes=True, listens=True)
    yield kernel
    kernel.stop()


def arguments(line: Line) -> list[str]:
    example = next(one for one in line.examples if not one.startswith("eval"))
    words = shlex.split(example.partition(" > ")[0])
    return [*words, *QUICK.get(line.words, ())]


def ended(
    line: Line,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    place: Path,
    *more: str,
    words: Sequence[str] = (),
    connect: Connect | None = None,
) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and what was said on stdout; ``words`` are said in place of the example."""
    monkeypatch.chdir(place)
    code = run([*(words or arguments(line)), "-o", "json", *more], connect)
    out, err = capsys.readouterr()
    if line.words in MADE:
        for made in (one for name in MADE[line.words] for one in place.glob(name)):
            shutil.rmtree(made) if made.is_dir() else made.unlink()
    assert "Traceback" not in out + err
    assert str(place) not in err
    said = [json.loads(text) for text in out.splitlines()]
    if line.words not in STREAMS or code == USAGE:
        (answer,) = said
        assert (answer["exit_code"], answer["ok"], answer["command"]) == (code, code == OK, line.words)
        assert ("error" in answer) == (code != OK)
    return code, said


@pytest.mark.parametrize("line", LINES)
def test_without_a_runtime(
    line: Line, ground: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _ = ended(line, capsys, monkeypatch, ground, "--state-dir", str(tmp_path / "state"))
    needs = bool(line.asks) and COMMANDS[line.asks].needs_runtime
    assert code == (UNAVAILABLE if needs else ANSWERS.get(line.words, OK))


@pytest.mark.parametrize("door", ["in its process", "attached beside another client"])
@pytest.mark.parametrize("line", LINES)
def test_with_a_runtime(
    line: Line,
    door: str,
    runtime: Kernel,
    ground: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if line.words == "capability undo":
        ordered(runtime, "capability.disable", id="topic-normalize")
    if door == "in its process":
        code, said = ended(line, capsys, monkeypatch, ground, connect=inside(runtime))
    else:
        with Client(runtime):
            code, said = ended(line, capsys, monkeypatch, ground)
    expected = UNAVAILABLE if line.words == "serve" else ANSWERS.get(line.words, OK)
    assert code == expected, said
    if line.asks and COMMANDS[line.asks].order:
        ordered(runtime, "capability.enable", id="topic-normalize")
    if line.words == "hardware claim":
        ordered(runtime, "hardware.release", key="scale.main")


@pytest.mark.parametrize("line", LINES)
def test_read_only(
    line: Line, runtime: Kernel, ground: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the process of the runtime and attached to it: whatever could change something is refused by the policy."""
    asked = COMMANDS.get(line.asks)
    refused = asked is not None and (asked.effects or asked.danger is not Danger.FREE)
    expected = POLICY if refused else UNAVAILABLE if line.words == "serve" else ANSWERS.get(line.words, OK)
    for connect in (inside(runtime, readonly=True), attached_to_look):
        code, said = ended(line, capsys, monkeypatch, ground, connect=connect)
        assert code == expected, said
        if refused:
            assert "read-only" in said[0]["error"]["message"]


@pytest.mark.parametrize("line", LINES)
def test_where_nothing_can_be_written(
    line: Line, ground: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    code, _ = ended(line, capsys, monkeypatch, ground, "--state-dir", str(tmp_path / "file/state"))
    writes = bool(line.asks) and (COMMANDS[line.asks].effects or COMMANDS[line.asks].needs_runtime)
    assert code == (UNAVAILABLE if writes or line.words in {"serve", *LOG} else ANSWERS.get(line.words, OK))


@pytest.mark.parametrize("line", LINES)
def test_with_wrong_arguments(
    line: Line, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option that there is not, a word too many, and none where one is wanted."""
    words, places = line.words.split(), [one for one in command(line).params if isinstance(one, click.Argument)]
    wrong = [(*arguments(line), "--no-such-option")]
    if all(place.nargs == 1 for place in places):
        wrong.append((*words, *(["bash"] * len(places)), "surplus"))
    if any(place.required for place in places):
        wrong.append((*words,))
    for one in wrong:
        code, (said,) = ended(line, capsys, monkeypatch, tmp_path, words=one)
        assert (code, said["error"]["kind"]) == (USAGE, "InvalidInput"), one
        assert said["error"]["suggestion"] == f"eva {line.words} --help"
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", LINES)
def test_in_a_broken_workspace(
    line: Line, ground: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "eva.yaml").write_text("version: [1\n")
    code, said = ended(line, capsys, monkeypatch, tmp_path)
    assert code == (INVALID if line.workspace else ANSWERS.get(line.words, OK))
    if line.workspace and line.words not in STREAMS:
        assert said[0]["error"]["context"]["diagnostics"][0]["spans"][0]["file"] == "eva.yaml"


def ordered(runtime: Kernel, command: str, **params: str) -> None:
    assert runtime.desk is not None
    asyncio.run_coroutine_threadsafe(runtime.desk.run(command, params, ANN), runtime._loop).result()


def inside(runtime: Kernel, *, readonly: bool = False) -> Connect:
    async def connect(mode: OpenMode, workspace: Path | None, state_dir: Path | None) -> Operator:
        return LocalOperator(runtime, ANN, readonly=readonly, guest=True)

    return connect


async def attached_to_look(mode: OpenMode, workspace: Path | None, state_dir: Path | None) -> Operator:
    return await open_workspace(workspace, state_dir=state_dir, mode=OpenMode.ATTACH, actor=ANN, readonly=True)


class Client:
    """Somebody else who is attached, and watches."""

    def __init__(self, runtime: Kernel) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(runtime.address))
        self._socket.sendall(b'{"id": 1, "method": "snapshot"}\n')

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
