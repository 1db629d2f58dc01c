-- One manifest and all that it refers to: scripts, modules and schemas.

local schemalint = require("schemalint")
local textkit = require("textkit")

local manifestlint = {}

local MANIFEST_KEYS = {
  id = true, name = true, description = true, kind = true, version = true, enabled = true, priority = true,
  capabilities = true, lua = true, input_schema = true, output_schema = true, permissions = true, limits = true,
  reload = true, audit = true, isolation = true, side_effects = true, trust = true, state = true,
  integrity = true, mcp = true, runtime_gate = true, expose_as_capability = true,
}
local REQUIRED_KEYS = { "id", "kind", "version", "lua.script", "input_schema", "output_schema" }

-- Reports what a script or module requires without being allowed to.
local function check_requires(project, manifest, path, modules)
  local required = project:required_by(path) or {}
  for _, name in ipairs(textkit.sorted_keys(required)) do
    if not modules[name] then
      project:report("error", "module_undeclared", path, required[name],
        string.format("'%s' is required, but %s does not declare it under lua.modules", name, manifest))
    end
  end
  return required
end

local function check_functions(project, manifest, script, keys)
  local text = project:read_text(script) or ""
  for _, key in ipairs({ "lua.entry", "lua.health_check" }) do
    local name = keys[key] and keys[key].value
    if name and name ~= "null" and not text:find(name, 1, true) then
      project:report("error", "function_missing", manifest, keys[key].line,
        string.format("'%s' does not stand anywhere in %s", name, script))
    end
  end
end

local function modules_of(entries)
  local modules, prefix = {}, "lua.modules."
  for _, entry in ipairs(entries) do
    if entry.path:sub(1, #prefix) == prefix then
      modules[entry.path:sub(#prefix + 1)] = entry
    end
  end
  return modules
end

-- What the script and its modules require has to be declared, all of it in this manifest.
local function check_code(project, manifest, keys, modules)
  local required = {}
  local function take(path)
    for name in pairs(path and check_requires(project, manifest, path, modules) or {}) do
      required[name] = true
    end
  end
  local script = project:follow(manifest, keys["lua.script"])
  if script then
    project.checked.scripts = project.checked.scripts + 1
    check_functions(project, manifest, script, keys)
  end
  take(script)
  for _, name in ipairs(textkit.sorted_keys(modules)) do
    take(project:follow(manifest, modules[name]))
  end
  for _, name in ipairs(textkit.sorted_keys(modules)) do
    if not required[name] then
      project:report("info", "module_unused", manifest, modules[name].line,
        string.format("the module '%s' is declared, but nothing requires it", name))
    end
  end
end

local function check_schema(project, manifest, entry, is_input)
  local path = project:follow(manifest, entry)
  local schema = path and project:read_json(path)
  if schema == nil then
    return
  end
  schemalint.check(schema, function(pointer, code, message)
    project:report("warning", code, path, nil, pointer == "" and message or pointer .. ": " .. message)
  end)
  if is_input and schemalint.is_open(schema) then
    project:report("warning", "schema_open", path, nil,
      "additionalProperties is not false: a misspelt key of a payload would pass unseen")
  end
end

local function check_required_keys(project, path, keys)
  for _, key in ipairs(REQUIRED_KEYS) do
    if not keys[key] then
      project:report("error", "key_missing", path, 1, string.format("'%s' is required", key))
    end
  end
  local kind = keys.kind and keys.kind.value
  if (kind == "lua_tool" or kind == "lua_skill") and not keys["capabilities[]"] then
    project:report("error", "key_missing", path, 1, "'capabilities' is required and names at least one")
  end
end

-- Every id has one manifest.
local function check_id(project, path, entry)
  local id = entry and entry.value
  if not id then
    return
  end
  local owner = project.owners[id:lower()]
  if owner then
    project:report("error", "id_duplicate", path, entry.line, string.format("'%s' is the id of %s already", id, owner))
  end
  project.owners[id:lower()] = owner or path
end

-- Checks the manifest at `path` of a project; everything goes to the project's findings.
function manifestlint.check(project, path)
  local keys, entries = project:read_yaml(path)
  if not keys then
    return
  end
  project.checked.manifests = project.checked.manifests + 1
  project:check_keys(path, entries, MANIFEST_KEYS)
  check_required_keys(project, path, keys)
  check_id(project, path, keys.id)
  check_code(project, path, keys, modules_of(entries))
  check_schema(project, path, keys.input_schema, true)
  check_schema(project, path, keys.output_schema, false)
end

return manifestlint
