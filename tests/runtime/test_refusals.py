"""What was refused is known later too: after a repair, a removal, a restart; and how it differs from what served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evatui.control.explained_refusals import explained
from evatui.control.failing import CommandFailed
from evatui.control.refusals import rejection_rows
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.registry.text_diff import MAX_LINES
from evatui.runtime import Runtime
from tests.support.workspaces import MANIFEST, SCRIPT, save

GREET = "capabilities/greet.yaml"
GREET_LUA = "capabilities/tools/greet.lua"
BROKEN = MANIFEST.replace("name: Greeter", "nmae: Greeter")


async def tell(runtime: Runtime, wanted: str | None = None, digest: str | None = None) -> list[dict[str, Any]]:
    return list((await explained(runtime, wanted, digest))["rejections"])


async def refuse(runtime: Runtime, root: Path, path: str, text: str) -> None:
    save(root, path, text)
    await runtime.reloader.run(explicit=True)


async def test_a_refusal_that_was_mended_is_still_explained_and_another_one_beside_it(start, workspace: Path) -> None:
    runtime = await start()
    await refuse(runtime, workspace, GREET, BROKEN)
    (now,) = await tell(runtime)
    assert (now["in_force"], now["serving"], now["against"]) == (True, "g1", "g1")
    assert "-name: Greeter\n+nmae: Greeter" in now["diff"]
    await refuse(runtime, workspace, GREET_LUA, "function oops(")
    await refuse(runtime, workspace, GREET, MANIFEST)
    await refuse(runtime, workspace, GREET_LUA, SCRIPT)
    assert await tell(runtime) == []
    past = await tell(runtime, "greet")
    assert [entry["in_force"] for entry in past] == [False, False, False]
    assert [entry["diagnostics"][0]["code"] for entry in past] == ["EVA-502", "EVA-204", "EVA-204"]
    assert past[-1]["diagnostics"] == now["diagnostics"]
    assert past[0]["diff"].startswith(f"--- {GREET_LUA}\n+++ {GREET_LUA}\n@@ -1 +1 @@\n-function invoke")
    assert (await tell(runtime, digest=now["digest"][:10])) == past[-1:]
    named = (await explained(runtime, None, None))["earlier"]
    assert (named[0]["id"], named[0]["summary"][:7]) == ("greet", "EVA-502")


async def test_a_misspelt_function_is_refused_with_the_one_that_was_meant(start, workspace: Path) -> None:
    runtime = await start()
    for wrong, meant in (("entry: invok", "invoke"), ("health_check: healthcheck", "health_check")):
        key = wrong.partition(":")[0]
        text = MANIFEST.replace("  health_check: health_check\n", "") if key == "entry" else MANIFEST
        text = (
            text.replace("lua:\n", f"lua:\n  {wrong}\n")
            if key == "entry"
            else text.replace("health_check: health_check", wrong)
        )
        await refuse(runtime, workspace, GREET, text)
        (now,) = await tell(runtime)
        (found,) = now["diagnostics"]
        assert (found["code"], found["spans"][0]["file"]) == ("EVA-502", GREET)
        assert found["message"].endswith(f"; did you mean {meant}?")


async def test_a_restart_and_a_removed_file_take_nothing_of_it_away(start, workspace: Path) -> None:
    runtime = await start()
    await refuse(runtime, workspace, GREET, BROKEN)
    (before,) = await tell(runtime)
    await runtime.close()
    runtime = await start()
    (after,) = await tell(runtime)
    assert (after["in_force"], after["serving"]) == (True, "g1")
    same = ("against", "difference", "diff", "digest", "diagnostics")
    assert [after[key] for key in same] == [before[key] for key in same]
    await runtime.close()
    (workspace / GREET).unlink()
    runtime = await start()
    (past,) = await tell(runtime, "greet")
    assert [past[key] for key in same] == [before[key] for key in same]
    assert past["in_force"] is False
    (past,) = await tell(runtime, GREET)
    assert past["id"] == "greet"
    for wanted, digest in (("nobody", None), (None, "0123456789")):
        with pytest.raises(CommandFailed) as failed:
            await tell(runtime, wanted, digest)
        assert failed.value.kind is ErrorKind.NOT_FOUND


async def test_one_that_only_looks_finds_it_and_writes_nothing(start, workspace: Path) -> None:
    runtime = await start()
    await refuse(runtime, workspace, GREET, BROKEN)
    await refuse(runtime, workspace, GREET, MANIFEST)
    await runtime.close()
    state = workspace / ".eva/state.db"
    before = state.read_bytes()
    reader = await Runtime.open(workspace, writes=False)
    try:
        (past,) = await tell(reader, "greet")
    finally:
        await reader.close()
    assert past["diagnostics"][0]["code"] == "EVA-204"
    assert state.read_bytes() == before


@pytest.mark.parametrize(
    ("manifest", "script", "code", "place"),
    [
        (("  health_check:", "  entry: nope\n  health_check:"), ("", ""), "EVA-502", (GREET, 8, 10)),
        (("health_check: health_check", "health_check: nope"), ("", ""), "EVA-502", (GREET, 8, 17)),
        (("", ""), ("function invoke(", "function invok("), "EVA-502", (GREET, 7, 11)),
        (("", ""), ("{ok = true}\n", '{ok = false, message = "no scale"}\n'), "EVA-503", (GREET_LUA, 5, 1)),
        (("", ""), ("{ok = true}\n", 'error("no scale")\n'), "EVA-503", (GREET_LUA, 6, 3)),
        (("", ""), ("function health_check(ctx)", "health_check =\nfunction(ctx)"), "", ()),
        (("", ""), ("  return {ok = true}\n", "  error({message = 3})\n"), "EVA-503", (GREET_LUA, 6, 3)),
    ],
)
async def test_what_the_script_lacks_is_told_where_it_is_named_and_an_ill_one_in_the_script(
    start, workspace: Path, manifest: tuple[str, str], script: tuple[str, str], code: str, place: tuple[object, ...]
) -> None:
    save(workspace, GREET, MANIFEST.replace(*manifest))
    save(workspace, GREET_LUA, SCRIPT.replace(*script))
    runtime = await start()
    found = [entry["diagnostics"][0] for entry in await tell(runtime)]
    assert [(one["code"], *(one["spans"][0][key] for key in ("file", "line", "column"))) for one in found] == (
        [(code, *place)] if code else []
    )


async def test_a_file_without_an_id_is_known_by_its_path(start, workspace: Path) -> None:
    runtime = await start()
    await refuse(runtime, workspace, "capabilities/odd.yaml", "a: [1\n")
    (workspace / "capabilities/odd.yaml").unlink()
    await runtime.reloader.run(explicit=True)
    (past,) = await tell(runtime, "capabilities/odd.yaml")
    assert (past["id"], past["in_force"], past["against"]) == (None, False, None)
    assert past["diagnostics"][0]["code"] == "EVA-101"


async def test_no_difference_shows_a_secret(start, workspace: Path) -> None:
    secrets = [f"hunter2-{n}-hunter2" for n in range(8)]
    save(
        workspace, GREET_LUA, SCRIPT + f'local token = {{\n  "{secrets[0]}",\n}}\nlocal password = [[\n{secrets[1]}]]\n'
    )
    runtime = await start()
    bad = SCRIPT + f'local token = {{\n  "{secrets[2]}",\n}}\nlocal password = [[\n{secrets[3]}]]\nboom(\n'
    save(workspace, GREET_LUA, bad)
    broken = (
        MANIFEST + f"api_key: {secrets[4]}\nsecrets:\n  - {secrets[5]}\ntokens: [\n{secrets[6]}]\nx: 'ghp_{'a' * 20}'\n"
    )
    await refuse(runtime, workspace, GREET, broken)
    told = await explained(runtime, "greet", None)
    assert "local token" in told["rejections"][0]["diff"]
    for text in (
        str(told),
        str(rejection_rows(runtime)),
        (workspace / ".eva/state.db-wal").read_bytes().decode("latin"),
    ):
        assert [secret for secret in (*secrets, "ghp_a") if secret in text] == []


async def test_a_difference_is_bounded_and_its_text_is_clean(start, workspace: Path) -> None:
    runtime = await start()
    lines = "".join(f"-- \x1b[31m line {n}\n" for n in range(50_000))
    await refuse(runtime, workspace, GREET_LUA, lines + "oops(")
    (now,) = await tell(runtime)
    assert "lines became" in now["diff"]
    await refuse(runtime, workspace, GREET_LUA, lines[:20_000] + "oops(")
    (now,) = await tell(runtime)
    shown = now["diff"].split("\n")
    assert len(shown) == MAX_LINES
    assert "more lines" in shown[-1]
    assert "\x1b" not in now["diff"]
    (row,) = rejection_rows(runtime)
    assert 0 < len(row.difference) < MAX_LINES
    assert row.against == "g1"
