"""The ground of the tour: a workspace of the samples in a temporary folder, and a home of its own beside it."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path

from evatui.control.audit_files import export_lines, verify_file
from evatui.control.bundle import init_workspace
from evatui.control.layouts import layout_of
from evatui.control.local import LocalOperator
from evatui.control.opening import home_in, start_kernel
from evatui.control.operator import Operator
from evatui.demo.edits import PATIENT, POLICY, Save
from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.lifecycle import State

__all__ = ["Ground"]

_LOOK_S = 0.02


class Ground:
    """Everything of the tour lies in one folder, which `close` takes away; ``person`` is who calls and approves.

    Blocking, but for `open` and `bring_in`.
    """

    def __init__(self, clock: Clock, person: Actor) -> None:
        self._clock = clock
        self._person = person
        self._folder = tempfile.TemporaryDirectory(prefix="evatui-demo-", ignore_cleanup_errors=True)
        self._place = Path(self._folder.name)
        self.root = self._place / "demo"
        self._home = home_in(self._place / "home")
        init_workspace(self.root)
        (self.root / "capabilities" / "policies" / "demo.yaml").write_text(POLICY, encoding="utf-8")
        self._bundled = {
            path.relative_to(self.root).as_posix(): path.read_text(encoding="utf-8")
            for path in (self.root / "capabilities").rglob("*")
            if path.suffix in (".lua", ".yaml")
        }
        self._held: dict[Path, bytes] = {}
        self.save(PATIENT)

    def hold_back(self) -> None:
        """Before `open`: takes the manifests away, for `bring_in`."""
        self._held = {path: path.read_bytes() for path in sorted((self.root / "capabilities").glob("*.yaml"))}
        for path in self._held:
            path.unlink()

    async def bring_in(self, operator: Operator) -> None:
        """One manifest after the other, so that each generation has the same number each time."""
        for path, text in self._held.items():
            await asyncio.to_thread(path.write_bytes, text)
            while not await _has(operator, path.stem):  # noqa: ASYNC110 -- its word for it is all there is
                await asyncio.sleep(_LOOK_S)

    async def open(self) -> LocalOperator:
        """The runtime of it. Raises `CommandFailed` as `start_kernel` does."""
        layout = await asyncio.to_thread(layout_of, self.root, None)
        kernel = await asyncio.to_thread(
            start_kernel, layout, writes=True, listens=True, clock=self._clock, home=self._home
        )
        return LocalOperator(kernel, self._person)

    def save(self, saves: tuple[Save, ...]) -> float:
        """Writes the files as an editor would; the time (monotonic) just before the last one was written."""
        at = 0.0
        for save in saves:
            text = save.text(self._bundled)
            at = time.monotonic()
            (self.root / save.path).write_text(text, encoding="utf-8")
        return at

    def tampered(self) -> tuple[int, int]:
        """Changes a bit in the middle of a copy of the audit log: of which record, and which one a check then names."""
        lines = list(export_lines(layout_of(self.root, None), self._home, {}, self._clock.now()))
        middle = len(lines) // 2
        changed = bytearray(lines[middle])
        changed[changed.index(b'"at":"') + 8] ^= 1
        seq: int = json.loads(lines[middle])["seq"]
        lines[middle] = bytes(changed)
        copy = self._place / "tampered.jsonl"
        copy.write_bytes(b"".join(lines))
        found = verify_file(copy, None)["first_bad"]
        return seq, found["seq"] if found else 0

    def close(self) -> None:
        self._folder.cleanup()


async def _has(operator: Operator, capability_id: str) -> bool:
    rows = (await operator.run("capability.list"))["capabilities"]
    return any(row["id"] == capability_id and row["state"] == State.ACTIVE for row in rows)
