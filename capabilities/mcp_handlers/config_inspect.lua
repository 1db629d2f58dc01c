-- config.inspect: the settings of this workspace as they are meant, and where each was written.
--
-- Reads eva.yaml; what it does not say has its default. The runtime itself reads the file by exact rules, and refuses
-- to start with a broken one: this is for looking.

local Project = require("project")
local textkit = require("textkit")

-- In the order of the documentation; a list's default is its entries.
local DEFAULTS = {
  { "version", "1" },
  { "roots.workspace", "." },
  { "runtime.mode", "normal" }, { "runtime.hot_reload", "true" }, { "runtime.max_live_generations", "3" },
  { "runtime.shutdown_timeout_ms", "15000" }, { "runtime.health_interval_s", "30" },
  { "watch.debounce_ms", "50" }, { "watch.rescan_s", "30" }, { "watch.polling", "auto" },
  { "audit.mode", "write" }, { "audit.rotate_bytes", "8388608" }, { "audit.keep_files", "16" },
  { "mcp_server.bind", "127.0.0.1:8765" }, { "mcp_server.allowed_origins", {} }, { "mcp_server.allowed_hosts", {} },
}

-- The settings that the file gives, by key: lists under their own key, everything else as it is written.
local function written(entries)
  local found, order = {}, {}
  for _, entry in ipairs(entries) do
    local list = entry.path:sub(-2) == "[]"
    local key = list and entry.path:sub(1, -3) or entry.path
    if list and found[key] and type(found[key].value) == "table" then
      found[key].value[#found[key].value + 1] = entry.value
    elseif entry.value then
      found[key] = { value = list and { entry.value } or entry.value, line = entry.line }
      order[#order + 1] = key
    end
  end
  return found, order
end

local function setting(key, value, entry, path)
  local shown = type(value) == "table" and json.array(value) or (textkit.cut(value, 300))
  if not entry then
    return { key = key, value = shown, origin = "default" }
  end
  return { key = key, value = shown, origin = path, line = entry.line }
end

local function is_under(key, wanted)
  return not wanted or key == wanted or key:sub(1, #wanted + 1) == wanted .. "."
end

local function settings_of(found, order, path, wanted)
  local settings, known = {}, {}
  for _, default in ipairs(DEFAULTS) do
    local key, entry = default[1], found[default[1]]
    known[key] = true
    if is_under(key, wanted) then
      settings[#settings + 1] = setting(key, entry and entry.value or default[2], entry, path)
    end
  end
  for _, key in ipairs(order) do
    if not known[key] and is_under(key, wanted) then
      settings[#settings + 1] = setting(key, found[key].value, found[key], path)
    end
  end
  return settings
end

local function problems_of(project)
  local problems = {}
  for _, finding in ipairs(project.findings) do
    problems[#problems + 1] = { path = finding.path, line = finding.line, message = finding.message }
  end
  return json.array(problems)
end

local function summary_of(settings, path)
  local count = 0
  for _, one in ipairs(settings) do
    count = count + (one.origin == "default" and 0 or 1)
  end
  return string.format("%s, %d of them written in %s", textkit.counted(#settings, "setting"), count, path)
end

local function invoke(ctx, request)
  local project = Project.new(ctx.host)
  local layout = project:layout()
  if not layout then
    return { ok = false, error = { kind = "PolicyDenied", message = "the workspace cannot be listed" } }
  end
  local wanted, entries = request.payload.key, nil
  if project:is_file(layout.settings) then
    entries = select(2, project:read_yaml(layout.settings))
  end
  local found, order = written(entries or {})
  local settings = settings_of(found, order, layout.settings, wanted)
  if #settings == 0 then
    local message = "there is no setting '" .. textkit.cut(wanted, 128) .. "'"
    return { ok = false, error = { kind = "NotFound", message = message } }
  end
  return {
    ok = true,
    result = {
      file = entries and layout.settings or nil, settings = settings, problems = problems_of(project),
      summary = summary_of(settings, layout.settings),
    },
  }
end

local function health_check(ctx)
  ctx.host.fs_list({ path = ".", limit = 1 })
  return { ok = true }
end

return { invoke = invoke, health_check = health_check }
