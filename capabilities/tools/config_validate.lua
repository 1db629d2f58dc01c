-- config.validate_project: a second pair of eyes on the configuration of a workspace.
--
-- Looks at eva.yaml, at the manifests and what they refer to, and at the JSON files. The runtime
-- decides by its own, exact rules whether a manifest is admitted; this tool looks at the project as
-- a whole and finds what is admitted and still wrong: a schema nobody uses, a module that a script
-- requires and the manifest forgot, two manifests with one id.

local manifestlint = require("manifestlint")
local Project = require("project")
local textkit = require("textkit")

local SHOWN_FINDINGS = 200

local SEVERITIES = { "error", "warning", "info" }
local RANK = { error = 1, warning = 2, info = 3 }

local WORKSPACE_KEYS = {
  version = true, roots = true, layout = true, runtime = true, watch = true, audit = true, mcp_server = true,
}

local function ends_with(text, ending)
  return text:sub(-#ending) == ending
end

local function check_settings(project, layout)
  if not project:is_file(layout.settings) then
    project:report("info", "settings_absent", layout.settings, nil, "there is no such file: all defaults are in force")
    return
  end
  local _, entries = project:read_yaml(layout.settings)
  project:check_keys(layout.settings, entries or {}, WORKSPACE_KEYS)
end

local function check_manifests(project, layout)
  if not project:listing(layout.manifests) then
    project:report("warning", "manifests_absent", layout.manifests, nil, "there is no such folder: nothing can be loaded")
    return
  end
  for _, path in ipairs(project:manifests(layout)) do
    manifestlint.check(project, path)
  end
end

local function is_call_schema(path)
  return ends_with(path, ".input.json") or ends_with(path, ".output.json")
end

-- JSON that no manifest names still has to be JSON; one named as a call's schema should have a user.
local function check_other_json(project)
  local paths = project:files_below("schemas")
  for path, entry in pairs(project:listing(".") or {}) do
    if entry.kind == "file" then
      paths[#paths + 1] = path
    end
  end
  table.sort(paths)
  for _, path in ipairs(paths) do
    if ends_with(path, ".json") and not project.used[path] then
      project:read_json(path)
      if is_call_schema(path) then
        project:report("info", "schema_unused", path, nil, "no manifest uses this schema")
      end
    end
  end
end

local function check_unused_scripts(project, layout)
  for _, folder in ipairs(layout.scripts) do
    for _, path in ipairs(project:files_below(folder)) do
      if ends_with(path, ".lua") and not project.used[path] then
        project:report("info", "script_unused", path, nil, "no manifest uses this script, so it is never loaded")
      end
    end
  end
end

local function check_examples(project, layout)
  local folders = project:listing(layout.examples) or {}
  for _, path in ipairs(textkit.sorted_keys(folders)) do
    local parts = textkit.split(path, "/")
    local id = parts[#parts]
    if folders[path].kind == "directory" and not project.owners[id:lower()] then
      project:report("warning", "examples_orphaned", path, nil, string.format("there is no capability '%s'", id))
    end
  end
end

local function by_place(one, other)
  if one.path ~= other.path then
    return one.path < other.path
  elseif (one.line or 0) ~= (other.line or 0) then
    return (one.line or 0) < (other.line or 0)
  elseif one.code ~= other.code then
    return one.code < other.code
  end
  return one.message < other.message
end

-- The findings of at least this severity, by their place, and how many there are of each.
local function outcome(project, least)
  local counts, shown = { error = 0, warning = 0, info = 0 }, {}
  table.sort(project.findings, by_place)
  for _, finding in ipairs(project.findings) do
    counts[finding.severity] = counts[finding.severity] + 1
    if RANK[finding.severity] <= RANK[least] and #shown < SHOWN_FINDINGS then
      shown[#shown + 1] = finding
    end
  end
  return counts, shown
end

local function sentence(project, counts)
  local parts = {}
  for _, severity in ipairs(SEVERITIES) do
    if counts[severity] > 0 then
      local noun = severity == "info" and "remark" or severity
      parts[#parts + 1] = textkit.counted(counts[severity], noun)
    end
  end
  local found = #parts > 0 and table.concat(parts, ", ") or "nothing to say"
  return string.format("%s about %s, %s and %s", found, textkit.counted(project.checked.manifests, "manifest"),
    textkit.counted(project.checked.scripts, "script"), textkit.counted(project.checked.json_files, "JSON file"))
end

local function invoke(ctx, request)
  local project = Project.new(ctx.host)
  local layout = project:layout()
  if not layout then
    -- The checks would only say "missing" of everything.
    local problem = { kind = "PolicyDenied", message = "the workspace cannot be listed", retryable = false }
    return { ok = false, error = problem }
  end
  check_settings(project, layout)
  check_manifests(project, layout)
  check_other_json(project)
  check_unused_scripts(project, layout)
  check_examples(project, layout)
  local counts, shown = outcome(project, request.payload.severity or "info")
  return {
    ok = true,
    result = {
      valid = counts.error == 0,
      summary = sentence(project, counts),
      findings = shown,
      findings_total = #project.findings,
      counts = counts,
      checked = project.checked,
      complete = project.complete,
    },
  }
end

-- Healthy where the workspace can be listed at all.
local function health_check(ctx)
  ctx.host.fs_list({ path = ".", limit = 1 })
  return { ok = true }
end

return { invoke = invoke, health_check = health_check }
