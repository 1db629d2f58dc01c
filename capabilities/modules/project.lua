-- A look at a workspace through the host: folders, files and what was found in them.
--
-- Each folder is listed once. Nothing raises: what cannot be listed or read becomes a finding, or nil.

local textkit = require("textkit")
local yamllines = require("yamllines")

local Project = {}
Project.__index = Project

local MAX_READ_BYTES = 131072
local MAX_LISTED = 1000
-- A manifest allows 1000 host calls by default, and one more would end the call for good.
local HOST_CALLS = 950

-- Folders below the manifests' that hold something else.
local NO_MANIFESTS = { policies = true, adapters = true, examples = true, extensions = true }

-- A workspace keeps everything at its top, or all but the schemas under `config/`.
local LAYOUTS = {
  { mark = "config/capabilities", settings = "config/eva.yaml", manifests = "config/capabilities",
    examples = "config/capabilities/examples", scripts = { "config/tools", "config/skills", "config/mcp_handlers" } },
  { mark = ".", settings = "eva.yaml", manifests = "capabilities", examples = "capabilities/examples",
    scripts = { "capabilities/tools", "capabilities/skills", "capabilities/mcp_handlers", "capabilities/modules" } },
}

-- `used` holds the files that a manifest refers to, `owners` the manifest of each id, `requires` the
-- modules that each script asks for.
function Project.new(host)
  return setmetatable({
    host = host, calls_left = HOST_CALLS, complete = true,
    findings = {}, listings = {}, requires = {}, used = {}, owners = {},
    checked = { manifests = 0, scripts = 0, json_files = 0 },
  }, Project)
end

-- The names that a script requires, with the line of each one's first use.
local function required_modules(text)
  local names = {}
  for number, line in textkit.lines(text) do
    local at = line:find("require", 1, true)
    local comment = line:find("--", 1, true)
    if at and not (comment and comment < at) then
      -- Short, so that no long line can make the pattern slow.
      local name = line:sub(at, at + 100):match("^require%s?%(?%s?[\"']([%w_.]+)[\"']")
      if name then
        names[name] = names[name] or number
      end
    end
  end
  return names
end

-- Severity is "error", "warning" or "info"; `line` may be nil.
function Project:report(severity, code, path, line, message)
  self.findings[#self.findings + 1] = {
    severity = severity, code = code, path = path, line = line, message = (textkit.cut(message, 300)),
  }
end

-- Calls a host function. Returns nil and what it said where it raised, or where no calls are left.
function Project:ask(name, argument)
  if self.calls_left <= 0 then
    self.complete = false
    return nil, "not read: the allowed host calls are used up"
  end
  self.calls_left = self.calls_left - 1
  local done, answer = pcall(self.host[name], argument)
  if done then
    return answer
  end
  return nil, type(answer) == "table" and (answer.message or answer.kind) or tostring(answer)
end

-- The entries of a folder by their path, each folder listed once; nil where there is no such folder.
function Project:listing(folder)
  if self.listings[folder] == nil then
    local entries = self:ask("fs_list", { path = folder, limit = MAX_LISTED })
    local by_path = entries and {}
    for _, entry in ipairs(entries or {}) do
      by_path[entry.path] = entry
    end
    self.listings[folder] = by_path or false
  end
  return self.listings[folder] or nil
end

local function parent_folder(path)
  local parts = textkit.split(path, "/")
  parts[#parts] = nil
  return #parts == 0 and "." or table.concat(parts, "/")
end

function Project:is_file(path)
  local entries = self:listing(parent_folder(path))
  return entries ~= nil and entries[path] ~= nil and entries[path].kind == "file"
end

-- The files below a folder, in order, without the sub-folders named in `without`.
function Project:files_below(folder, without)
  local files = {}
  local entries = self:listing(folder) or {}
  for _, path in ipairs(textkit.sorted_keys(entries)) do
    local parts = textkit.split(path, "/")
    if entries[path].kind == "file" then
      files[#files + 1] = path
    elseif entries[path].kind == "directory" and not (without and without[parts[#parts]]) then
      for _, file in ipairs(self:files_below(path, without)) do
        files[#files + 1] = file
      end
    end
  end
  return files
end

-- Where the workspace keeps its parts, nil where not even its folder can be listed.
function Project:layout()
  for _, layout in ipairs(LAYOUTS) do
    if self:listing(layout.mark) then
      return layout
    end
  end
  return nil
end

-- The paths of the manifests, in order.
function Project:manifests(layout)
  local paths = {}
  for _, path in ipairs(self:files_below(layout.manifests, NO_MANIFESTS)) do
    if path:sub(-5) == ".yaml" or path:sub(-4) == ".yml" then
      paths[#paths + 1] = path
    end
  end
  return paths
end

-- Reads a text; what cannot be read is a finding of the file itself.
function Project:read_text(path)
  local text, problem = self:ask("fs_read_text", { path = path, max_bytes = MAX_READ_BYTES })
  if not text then
    self:report("error", "unreadable", path, nil, problem)
  end
  return text
end

-- Reads YAML into entries by path, the first one of each path, and reports what is wrong with its form.
function Project:read_yaml(path)
  local text = self:read_text(path)
  if not text then
    return nil
  end
  local entries, problems = yamllines.read(text)
  for _, problem in ipairs(problems) do
    self:report("error", problem.code, path, problem.line, problem.message)
  end
  local by_path = {}
  for _, entry in ipairs(entries) do
    by_path[entry.path] = by_path[entry.path] or entry
  end
  return by_path, entries
end

-- Is the path relative, without a way out of the workspace?
local function stays_inside(path)
  for _, part in ipairs(textkit.split(path, "/")) do
    if part == ".." then
      return false
    end
  end
  return path:sub(1, 1) ~= "/" and not path:find("\\", 1, true)
end

-- Notes that a manifest uses a file. Returns the path where the file is there.
function Project:follow(manifest, entry)
  local target = entry and entry.value
  if not target then
    return nil
  end
  if not stays_inside(target) then
    self:report("error", "reference_outside", manifest, entry.line,
      string.format("'%s' must be a path inside the workspace, with '/' between its parts", target))
    return nil
  end
  if not self:is_file(target) then
    self:report("error", "reference_missing", manifest, entry.line, string.format("there is no file '%s'", target))
    return nil
  end
  self.used[target] = true
  return target
end

-- The modules that a script requires, as name -> line of the first use; nil where it cannot be read.
function Project:required_by(path)
  if self.requires[path] == nil then
    local text = self:read_text(path)
    self.requires[path] = text and required_modules(text) or false
  end
  return self.requires[path] or nil
end

-- Reads a JSON file. Returns nil where it cannot be read, after reporting why.
function Project:read_json(path)
  self.checked.json_files = self.checked.json_files + 1
  local value, problem = self:ask("fs_read_json", { path = path, max_bytes = MAX_READ_BYTES })
  if value == nil then
    self:report("error", "json_invalid", path, tonumber(problem:match("line (%d+)")), problem)
  end
  return value
end

-- Reports each key at the top of a file that is not one of `known`.
function Project:check_keys(path, entries, known)
  for _, entry in ipairs(entries) do
    if not entry.path:find("[.%[]") and not known[entry.path] then
      self:report("error", "key_unknown", path, entry.line, string.format("'%s' is no key of this file", entry.path))
    end
  end
end

return Project
