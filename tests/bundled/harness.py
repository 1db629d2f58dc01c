"""Runs a bundled capability as its manifest says, over a folder of real files."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import lupa.lua54 as lua54
import yaml

ROOT = Path(__file__).parents[2]

PRELUDE = """
local host, null = ...
json = {null = null, decode = host.decode}
local modules = {}
function require(name)
  return modules[name] or error("no module " .. name)
end
local function raising(name)
  return function(argument)
    local done, value = host[name](argument)
    if not done then error(value, 0) end
    return value
  end
end
local host_api = {
  fs_list = raising("fs_list"), fs_read_text = raising("fs_read_text"), fs_read_json = raising("fs_read_json"),
}
return function(value) return value == null end, modules, host_api
"""


class Tool:
    def __init__(self, capability_id: str, workspace: Path) -> None:
        self.manifest = yaml.safe_load((ROOT / f"capabilities/{capability_id}.yaml").read_text())
        self.workspace = workspace
        self.calls = 0
        self.lua = lua54.LuaRuntime(unpack_returned_tuples=True)
        self.null = self.lua.table()
        functions = {
            "fs_list": self._list,
            "fs_read_text": self._text,
            "fs_read_json": self._json,
            "decode": self._decode,
        }
        self.is_null, modules, host = self.lua.execute(PRELUDE, self.lua.table_from(functions), self.null)
        self.modules = modules
        self.ctx = self.lua.table_from({"host": host})
        declared = dict(self.manifest["lua"].get("modules", {}))
        while declared:
            for name, path in list(declared.items()):
                try:
                    modules[name] = self.lua.execute((ROOT / path).read_text())
                except lua54.LuaError as error:
                    if "no module" not in str(error):
                        raise
                else:
                    del declared[name]
        self.script = self.lua.execute((ROOT / self.manifest["lua"]["script"]).read_text())

    def to_lua(self, value: Any) -> Any:
        if value is None:
            return self.null
        if isinstance(value, dict):
            return self.lua.table_from({k: self.to_lua(v) for k, v in value.items()})
        if isinstance(value, list):
            return self.lua.table_from([self.to_lua(v) for v in value])
        return value

    def to_python(self, value: Any) -> Any:
        if lua54.lua_type(value) == "table":
            if self.is_null(value):
                return None
            keys = list(value.keys())
            if keys == list(range(1, len(keys) + 1)):
                return [self.to_python(v) for v in value.values()]
            return {k: self.to_python(v) for k, v in value.items()}
        return value

    def call(self, payload: dict[str, Any]) -> dict[str, Any]:
        if not self._schema("input_schema").is_valid(payload):
            return {"ok": False, "error": {"kind": "InvalidInput", "message": "input schema"}}
        request = self.lua.table_from({"payload": self.to_lua(payload)})
        answer: dict[str, Any] = self.to_python(self.script[self.manifest["lua"]["entry"]](self.ctx, request))
        if answer["ok"]:
            self._schema("output_schema").validate(answer["result"])
        return answer

    def _schema(self, which: str) -> Any:
        return jsonschema_rs.validator_for(json.loads((ROOT / self.manifest[which]).read_text()))

    def health(self) -> Any:
        return self.to_python(self.script[self.manifest["lua"]["health_check"]](self.ctx))

    def _fail(self, kind: str, message: str) -> Any:
        return False, self.to_lua({"kind": kind, "message": message, "retryable": False})

    def _list(self, argument: Any) -> Any:
        self.calls += 1
        folder = self.workspace / argument["path"]
        if not folder.is_dir():
            return self._fail("NotFound", f"there is no folder '{argument['path']}'")
        entries = []
        for item in sorted(folder.iterdir())[: argument["limit"]]:
            kind = "other" if item.is_symlink() else "directory" if item.is_dir() else "file"
            path = item.relative_to(self.workspace).as_posix()
            entries.append({"path": path, "kind": kind, "bytes": item.lstat().st_size})
        return True, self.to_lua(entries)

    def _text(self, argument: Any) -> Any:
        self.calls += 1
        path = self.workspace / argument["path"]
        if not path.is_file():
            return self._fail("NotFound", f"there is no file '{argument['path']}'")
        if fnmatch.fnmatch(path.name, ".env*"):
            return self._fail("PolicyDenied", "never readable")
        try:
            return True, path.read_text()
        except UnicodeDecodeError:
            return self._fail("InvalidInput", "not UTF-8")

    def _json(self, argument: Any) -> Any:
        done, text = self._text(argument)
        if not done:
            return done, text
        try:
            return True, self.to_lua(json.loads(text))
        except ValueError as error:
            return self._fail("InvalidInput", str(error))

    def _decode(self, text: str) -> Any:
        return self.to_lua(json.loads(text))
