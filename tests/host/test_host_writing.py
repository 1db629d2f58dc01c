"""Writing files for a handler: where, what becomes of the file, and what is left where it does not work."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.permissions import Files, Permissions
from tests.host.ground import Ground, granting

OpenGround = Callable[[], Ground]
DENIED = ErrorKind.POLICY_DENIED


@pytest.fixture
def open_to_all(ground: Ground) -> Ground:
    ground.permissions = granting("*", write=("*",))
    (ground.root / "out").mkdir()
    return ground


def left_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


async def write(ground: Ground, path: str, text: str = "new", **more: Any) -> Any:
    return await ground.ask("fs_write_text", {"path": path, "text": text, **more})


async def test_a_file_is_made_replaced_and_added_to(open_to_all: Ground) -> None:
    assert await write(open_to_all, "out/a.txt", "één\n") == {"bytes": 6}
    assert (open_to_all.root / "out/a.txt").read_text() == "één\n"
    assert await write(open_to_all, "out/a.txt", "b") == {"bytes": 1}
    assert await write(open_to_all, "out/a.txt", "c", mode="append") == {"bytes": 2}
    assert await write(open_to_all, "out/new.txt", "c", mode="append") == {"bytes": 1}
    assert await write(open_to_all, "out/empty.txt", "", mode="create") == {"bytes": 0}
    assert (open_to_all.root / "out/a.txt").read_text() == "bc"
    assert left_in(open_to_all.root / "out") == ["a.txt", "empty.txt", "new.txt"]


async def test_create_replaces_nothing(open_to_all: Ground) -> None:
    open_to_all.write("out/a.txt", "old")
    argument = {"path": "out/a.txt", "text": "new", "mode": "create"}
    assert await open_to_all.refusal("fs_write_text", argument) == (
        ErrorKind.CONFLICT,
        "workspace:out/a.txt exists already",
    )
    assert (open_to_all.root / "out/a.txt").read_text() == "old"
    assert left_in(open_to_all.root / "out") == ["a.txt"]


async def test_only_one_of_many_creates_the_file(open_to_all: Ground) -> None:
    hosts, won = [open_to_all.bind() for _ in range(8)], []
    barrier = threading.Barrier(len(hosts))

    def create(number: int) -> None:
        barrier.wait()
        try:
            hosts[number]("fs_write_text", {"path": "out/a", "text": str(number), "mode": "create"})
            won.append(str(number))
        except CallFailed as failed:
            assert failed.error.kind is ErrorKind.CONFLICT

    threads = [threading.Thread(target=create, args=[number]) for number in range(len(hosts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(open_to_all.root / "out/a").read_text()] == won


async def test_no_append_is_lost_among_many(open_to_all: Ground) -> None:
    def add() -> None:
        host = open_to_all.bind()
        for _ in range(5):
            host("fs_write_text", {"path": "out/log", "text": "line\n", "mode": "append"})

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (open_to_all.root / "out/log").read_text() == "line\n" * 20


async def test_a_replaced_file_keeps_who_may_read_it(open_to_all: Ground) -> None:
    file = open_to_all.write("out/a.sh", "old")
    for mode in (0o600, 0o755, 0o640):
        file.chmod(mode)
        await write(open_to_all, "out/a.sh")
        assert file.stat().st_mode & 0o7777 == mode


@pytest.mark.parametrize(
    ("grants", "path"),
    [
        ((), "out/a"),
        (("workspace/out",), "outer/a"),
        (("workspace/out",), "a"),
        (("workspace/out/a",), "out/ab"),
        (("docs",), "out/a"),
    ],
)
async def test_only_what_is_granted_is_written(ground: Ground, grants: tuple[str, ...], path: str) -> None:
    (ground.root / "out").mkdir()
    (ground.root / "outer").mkdir()
    ground.permissions = Permissions(fs=Files(("*",), grants))
    kind, message = await ground.refusal("fs_write_text", {"path": path, "text": "x"})
    assert kind is DENIED
    assert "fs.write does not cover it" in message
    assert not (ground.root / path).exists()


@pytest.mark.parametrize(
    "path",
    [
        "../a",
        "out/../../a",
        "out/../capabilities/a.yaml",
        "/etc/passwd",
        "~/a",
        "C:/a",
        "out\\a",
        "out/\u202ea",
        "eva.yaml",
        "EVA.YAML",
        "config/eva.yaml",
        "capabilities/tool.yaml",
        "Capabilities/tools/tool.lua",
        "capabilities/tools/new.lua",
        "capabilities",
        "./capabilities//modules/kit.lua",
        "schemas/in.json",
        "SCHEMAS/new.json",
        "capabilities/policies/policy.yaml",
        "capabilities/adapters/a.yaml",
        "skills/x/run.sh",
        "plugins/x/main",
        ".eva/state.db",
        ".git/hooks/pre-commit",
        "out/.git/config",
        "out/.GIT/config",
        "out/Skill.md",
        "out/.env",
        "out/.env.local",
        "out/tls.PEM",
        "out/tls.key",
        "out/id_rsa",
        "out/.env.",
        "out/.env::$DATA",
    ],
)
async def test_some_places_are_never_written(open_to_all: Ground, path: str) -> None:
    for folder in ("config", "schemas", "skills/x", "plugins/x", ".git/hooks", "out/.git", "out/.GIT"):
        (open_to_all.root / folder).mkdir(parents=True, exist_ok=True)
    open_to_all.write("capabilities/tools/tool.lua", "old")
    kind, _ = await open_to_all.refusal("fs_write_text", {"path": path, "text": "x"})
    assert kind is DENIED
    assert (open_to_all.root / "capabilities/tools/tool.lua").read_text() == "old"


async def test_folders_of_the_layout_are_guarded_where_they_really_lie(ground: Ground, open_ground: OpenGround) -> None:
    ground.write(
        "eva.yaml", "layout: {scripts: [capabilities, lib], schemas: [forms]}\nroots: {all: ., elsewhere: real}\n"
    )
    for folder in ("lib", "real/forms"):
        (ground.root / folder).mkdir(parents=True)
    (ground.root / "forms").symlink_to("real/forms")
    again = open_ground()
    again.permissions = granting(write=("*",))
    for root, path in (("all", "lib/kit.lua"), ("all", "real/forms/in.json"), ("elsewhere", "Forms/in.json")):
        kind, _ = await again.refusal("fs_write_text", {"root": root, "path": path, "text": "x"})
        assert kind is DENIED
    assert await again.ask("fs_write_text", {"root": "elsewhere", "path": "a.txt", "text": "x"}) == {"bytes": 1}
    assert left_in(ground.root / "real") == ["a.txt", "forms"]


async def test_no_link_is_followed(open_to_all: Ground, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("old")
    root = open_to_all.root
    open_to_all.write("real/a", "old")
    (root / "out/up").symlink_to(outside)
    (root / "out/in").symlink_to(root / "real")
    (root / "out/leaf").symlink_to(root / "real/a")
    (root / "out/dangling").symlink_to(root / "out/nowhere")
    for path in ("out/up/a", "out/in/a", "out/leaf", "out/dangling"):
        kind, _ = await open_to_all.refusal("fs_write_text", {"path": path, "text": "new"})
        assert kind is DENIED
    assert (outside / "a").read_text() == (root / "real/a").read_text() == "old"
    assert left_in(root / "out") == ["dangling", "in", "leaf", "up"]


async def test_a_second_name_of_a_file_is_not_written(open_to_all: Ground) -> None:
    script = open_to_all.write("capabilities/tools/tool.lua", "old")
    os.link(script, open_to_all.root / "out/a")
    for mode in ("replace", "append"):
        kind, message = await open_to_all.refusal("fs_write_text", {"path": "out/a", "text": "x", "mode": mode})
        assert (kind, "hard link" in message) == (DENIED, True)
    assert script.read_text() == "old"


async def test_what_is_no_file_is_left_alone(open_to_all: Ground) -> None:
    os.mkfifo(open_to_all.root / "out/pipe")
    (open_to_all.root / "out/folder").mkdir()
    for path in ("out/pipe", "out/folder", "out", "."):
        kind, _ = await open_to_all.refusal("fs_write_text", {"path": path, "text": "x"})
        assert kind is ErrorKind.INVALID_INPUT
    for path in ("out/none/a", "out/pipe/a"):
        assert (await open_to_all.refusal("fs_write_text", {"path": path, "text": "x"}))[0] is ErrorKind.NOT_FOUND


async def test_a_read_only_file_is_not_replaced(open_to_all: Ground) -> None:
    open_to_all.write("out/a", "old").chmod(0o444)
    assert await open_to_all.refusal("fs_write_text", {"path": "out/a", "text": "x"}) == (
        ErrorKind.HOST_ERROR,
        "workspace:out/a: it is read-only",
    )


async def test_a_file_does_not_grow_past_the_limit(open_to_all: Ground) -> None:
    await write(open_to_all, "out/a", "x" * 16_777_216)
    argument = {"path": "out/a", "text": "y", "mode": "append"}
    kind, message = await open_to_all.refusal("fs_write_text", argument)
    assert (kind, message) == (
        ErrorKind.INPUT_TOO_LARGE,
        "workspace:out/a: it would have more than 16,777,216 bytes",
    )
    assert left_in(open_to_all.root / "out") == ["a"]


@pytest.mark.parametrize("step", ["write", "fsync", "rename"])
async def test_where_the_disk_fails_the_old_file_stays(
    open_to_all: Ground, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    open_to_all.write("out/a", "old")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/secret/place")

    with monkeypatch.context() as patched:
        patched.setattr(os, step, full)
        found = await open_to_all.refusal("fs_write_text", {"path": "out/a", "text": "new"})
    assert found == (ErrorKind.HOST_ERROR, "workspace:out/a: no space left on device")
    assert (open_to_all.root / "out/a").read_text() == "old"
    assert left_in(open_to_all.root / "out") == ["a"]


async def test_a_health_check_writes_nothing(open_to_all: Ground) -> None:
    with pytest.raises(CallFailed) as caught:
        open_to_all.bind(effects=False)("fs_write_text", {"path": "out/a", "text": "x"})
    assert caught.value.error.kind is DENIED
    assert left_in(open_to_all.root / "out") == []


async def test_a_write_is_announced_with_its_path_and_a_refused_one_is_not(open_to_all: Ground) -> None:
    host = open_to_all.bind()
    host("fs_write_text", {"path": "out/a", "text": "x"})
    with pytest.raises(CallFailed):
        host("fs_write_text", {"path": "eva.yaml", "text": "x"})
    intents = [record for record in open_to_all.audit.tail(9) if record["outcome"] == "intent"]
    assert [call["target"] for record in intents for call in record["host_calls"]] == ["workspace:out/a"]
    assert [(call["target"], call["outcome"]) for call in host.calls] == [
        ("workspace:out/a", "ok"),
        ("workspace:eva.yaml", "PolicyDenied"),
    ]
