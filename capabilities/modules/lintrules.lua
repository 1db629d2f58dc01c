-- What is admitted in a manifest and still unwise, and what to do about each rule that is broken.

local textkit = require("textkit")

local lintrules = {}

local ADVICE = {
  description_missing = "Add description: with what it does and when to use it; it is shown wherever it is offered.",
  examples_missing = "Write an example call to examples/<id>/<name>.yaml: it is run before each new version goes live.",
  health_check_missing = "Name a function under lua.health_check; without one, a version is healthy once it loads.",
  permission_unlimited = "Name what it needs: \"*\" also covers what is added later.",
  side_effects_unsaid = "Say side_effects: idempotent or mutating, so that nobody repeats a call that must not be.",
  timeout_long = "Lower limits.timeout_ms, or report progress, so that callers do not wait in the dark.",

  examples_orphaned = "Remove the folder, or name it after a capability.",
  function_missing = "Write the function, or correct its name in the manifest.",
  id_duplicate = "Give one of the two another id.",
  json_invalid = "Mend the JSON at the place that the message names.",
  key_missing = "Add the key: eva schema print manifest has all of them.",
  key_unknown = "Correct the key or remove it: eva schema print manifest has all of them.",
  manifests_absent = "Make the folder, or name another one under layout.manifests in eva.yaml.",
  module_undeclared = "Declare it under lua.modules with its path.",
  module_unused = "Remove it from lua.modules.",
  reference_missing = "Create the file, or correct the path.",
  reference_outside = "Move the file into the workspace, and name it from there.",
  schema_not_an_object = "Write a schema: an object such as {\"type\": \"object\"}.",
  schema_open = "Add \"additionalProperties\": false.",
  schema_required_unknown = "Describe it under properties, or take it out of required.",
  schema_type_unknown = "Choose one of array, boolean, integer, null, number, object and string.",
  schema_unused = "Name it in a manifest, or remove it.",
  script_unused = "Name it in a manifest, or remove it.",
  yaml_duplicate_key = "Keep one of the two.",
  yaml_tab = "Indent with spaces.",
  unreadable = "Make it a readable text file of moderate size.",
}
-- Told by a check, but nothing needs to be done about it.
local NO_STEPS = { settings_absent = true }
local LONG_MS = 60000

function lintrules.is_a_step(rule)
  return not NO_STEPS[rule]
end

-- What to do about a finding, whoever made it.
function lintrules.advice(rule)
  return ADVICE[rule] or "See what the message names; eva explain has the rules of the runtime."
end

local function check_texts(project, path, keys)
  local described = keys.description or keys["mcp.description"]
  if not described or described.value == "" then
    project:report("warning", "description_missing", path, keys.id and keys.id.line, "it does not say what it is for")
  end
end

local function check_health(project, path, keys)
  local script, check = keys["lua.script"], keys["lua.health_check"]
  if script and (not check or check.value == "null") then
    project:report("info", "health_check_missing", path, script.line, "it has no health check")
  end
end

local function starts(text, beginning)
  return text:sub(1, #beginning) == beginning
end

local function check_permissions(project, path, entries, keys)
  local writes
  for _, entry in ipairs(entries) do
    if starts(entry.path, "permissions.") and entry.value == "*" then
      local area = textkit.split(entry.path, "[")[1]
      project:report("warning", "permission_unlimited", path, entry.line, area .. " asks for all there is")
    end
    if starts(entry.path, "permissions.fs.write[") then
      writes = writes or entry
    end
  end
  local effects = keys.side_effects
  if writes and (not effects or effects.value == "none") then
    project:report("warning", "side_effects_unsaid", path, writes.line, "it writes files, and says side_effects: none")
  end
end

local function check_limits(project, path, keys)
  local timeout = keys["limits.timeout_ms"]
  local given = timeout and tonumber(timeout.value)
  if given and given > LONG_MS then
    project:report("info", "timeout_long", path, timeout.line, string.format("a call may take %.0f s", given / 1000))
  end
end

local function check_examples(project, layout, path, keys)
  local id = keys.id and keys.id.value
  if id and #project:files_below(layout.examples .. "/" .. id) == 0 then
    project:report("info", "examples_missing", path, keys.id.line, "no example call shows what it does")
  end
end

-- Checks the manifest at `path`; what its form is like is for others to judge.
function lintrules.check(project, layout, path)
  local keys, entries = project:read_yaml(path)
  if not keys then
    return
  end
  check_texts(project, path, keys)
  check_health(project, path, keys)
  check_permissions(project, path, entries, keys)
  check_limits(project, path, keys)
  check_examples(project, layout, path, keys)
end

return lintrules
