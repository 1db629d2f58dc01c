"""A workspace of many capabilities, each of which says at both ends of its script which version of it answers."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CUT_BY_DRAINS", "EFFECT", "Files", "make_workspace"]

EFFECT = "/soak/done"
CUT_BY_DRAINS = 5
"""One capability in as many gives its running calls next to no time to end."""

_POLICY = f"""\
version: 1
grants:
  - match: {{ids: ["c*"]}}
    events: {{emit: ["{EFFECT}"]}}
"""
_MANIFEST = """\
id: {id}
kind: lua_tool
version: 1.0.0
capabilities: [soak.{id}]
isolation: {isolation}
lua: {{script: capabilities/tools/{id}.lua, health_check: health_check}}
input_schema: {{type: object}}
output_schema: {{type: object}}
permissions: {{events: {{emit: ["{effect}"]}}}}
limits: {{timeout_ms: 30000, concurrency: 8}}
reload: {{drain_timeout_ms: {drain_ms}, rollback_on_failure: false}}
audit: {{log_input: none, log_output: none}}
"""
# The first part alone is a sound script that answers with a tail of -1, so that a torn read is served and seen.
_SCRIPT = """\
local HEAD = {version}
{filling}
function invoke(ctx, request)
  local head, payload = HEAD, request.payload
  ctx.host.emit_event({{topic = "{effect}", payload = {{n = payload.n}}}})
  for _ = 1, payload.steps do ctx.host.now() end
  if payload.key then
    local before = ctx.host.state_get({{key = payload.key}})
    ctx.host.state_set({{key = payload.key, value = (before.version > 0 and before.value or 0) + 1}})
  end
  return {{ok = true, result = {{head = head, tail = TAIL or -1, n = payload.n}}}}
end

function health_check()
  return {{ok = {healthy}}}
end
"""
_TAIL = "TAIL = {version}\n"
_FILLING = "-- " + "x" * 90 + "\n"


@dataclass
class Files:
    """The files of one capability. Every version has a length of its own, and bytes that no other one has."""

    root: Path
    id: str
    in_process: bool
    cut: bool
    version: int = 0
    _breaks: int = 0
    _manifest_is_good: bool = False

    @property
    def manifest(self) -> Path:
        return self.root / f"capabilities/{self.id}.yaml"

    @property
    def script(self) -> Path:
        return self.root / f"capabilities/tools/{self.id}.lua"

    def save(self, dice: random.Random) -> None:
        """The next version; the manifest as well, where it is gone or broken, after the script."""
        self.version += 1
        self._write_script(dice, self._parts(self.version, "true"))
        self._mend_manifest()

    def break_it(self, dice: random.Random) -> None:
        """Saves what must be refused, in one of many ways; what it would answer is no version of this capability."""
        self._breaks += 1
        way = dice.choice((*_BROKEN, "syntax", "health"))
        if way in _BROKEN:
            self._manifest_is_good = False
            _by_rename(self.manifest, (f"{_BROKEN[way](self._manifest())}# {self._breaks}\n",))
            return
        head, tail = self._parts(-self._breaks, "false")
        self._write_script(dice, (head, tail if way == "health" else "function ("))
        self._mend_manifest()

    def delete(self) -> None:
        self.manifest.unlink(missing_ok=True)
        self._manifest_is_good = False

    def _manifest(self) -> str:
        return _MANIFEST.format(
            id=self.id,
            isolation="in_process" if self.in_process else "process",
            effect=EFFECT,
            drain_ms=5 if self.cut else 30_000,
        )

    def _mend_manifest(self) -> None:
        if not self._manifest_is_good:
            _by_rename(self.manifest, (self._manifest(),))
            self._manifest_is_good = True

    def _parts(self, version: int, healthy: str) -> tuple[str, str]:
        filling = _FILLING * (abs(version) % 40)
        head = _SCRIPT.format(version=version, filling=filling, effect=EFFECT, healthy=healthy)
        return head, _TAIL.format(version=version)

    def _write_script(self, dice: random.Random, parts: tuple[str, str]) -> None:
        dice.choice((_by_rename, _in_place))(self.script, parts)


_BROKEN = {
    "yaml": lambda text: text + "limits: [\n",
    "key": lambda text: text + "limit: {timeout_ms: 5}\n",
    "grant": lambda text: text.replace("emit: [", 'emit: ["/elsewhere/**", '),
    "no script": lambda text: text.replace(".lua", ".nowhere.lua"),
}


def make_workspace(root: Path, count: int, in_processes: int) -> list[Files]:
    """The last ``in_processes`` of ``count`` capabilities run in processes of their own."""
    (root / "capabilities/tools").mkdir(parents=True)
    (root / "capabilities/policies").mkdir()
    (root / "capabilities/policies/default.yaml").write_text(_POLICY)
    dice = random.Random(0)
    made = []
    for number in range(count):
        files = Files(root, f"c{number:02d}", number < count - in_processes, number % CUT_BY_DRAINS == 0)
        files.save(dice)
        made.append(files)
    return made


def _by_rename(path: Path, parts: tuple[str, ...]) -> None:
    """As editors with a safe save do it: a new file takes the place of the old one."""
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_text("".join(parts))
    os.replace(beside, path)


def _in_place(path: Path, parts: tuple[str, ...]) -> None:
    """As a plain save does it: the file is emptied, then written, here in as many goes as there are parts."""
    with path.open("w") as file:
        for part in parts:
            file.write(part)
            file.flush()
