-- repo.summary: what lies in a folder of the workspace, at a glance.
--
-- Walks the folder breadth first and reads what it may. Nothing that it meets on the way is an
-- error: a file that is too large, not text, or refused by the host is listed under `skipped`,
-- with the reason. Only a start folder that cannot be listed fails the call.

local filetypes = require("filetypes")
local readme = require("readme")
local textkit = require("textkit")

local DEFAULT_MAX_FILES = 500
local MAX_READ_BYTES = 131072
local MAX_LISTED = 1000
-- The manifest allows 1000 host calls, and one more would end this call for good.
local HOST_CALLS = 950

local SHOWN_BIGGEST = 10
local SHOWN_GROUPS = 30
local SHOWN_NOTABLE = 30
local SHOWN_SKIPPED = 50

-- In the order of preference.
local README_NAMES = { "readme.md", "readme.rst", "readme.txt", "readme" }

-- What an error from the host says, whatever was raised.
local function reason_of(problem)
  if type(problem) == "table" then
    return problem.message or problem.kind or "refused by the host"
  end
  return tostring(problem)
end

-- A walk in progress. `complete` turns false as soon as something was left out for lack of room.
local function new_walk(host, start, max_files)
  return {
    host = host, start = start, max_files = max_files, calls_left = HOST_CALLS, complete = true,
    folders = 0, files = {}, skipped = {}, skipped_total = 0,
  }
end

local function skip(walk, path, reason)
  walk.skipped_total = walk.skipped_total + 1
  if #walk.skipped < SHOWN_SKIPPED then
    walk.skipped[#walk.skipped + 1] = { path = path, reason = (textkit.cut(reason, 200)) }
  end
end

-- Calls a host function and counts it. Returns nil and the problem where it raised.
local function ask(walk, name, argument)
  walk.calls_left = walk.calls_left - 1
  local done, answer = pcall(walk.host[name], argument)
  if done then
    return answer
  end
  return nil, answer
end

local function list(walk, folder)
  local entries, problem = ask(walk, "fs_list", { path = folder, limit = MAX_LISTED })
  if not entries then
    return nil, problem
  end
  walk.folders = walk.folders + 1
  if #entries >= MAX_LISTED then
    walk.complete = false
    skip(walk, folder, "only its first " .. MAX_LISTED .. " entries were listed")
  end
  return entries
end

-- Takes in one entry of a folder; a folder goes to the end of the queue.
local function take(walk, entry, queue)
  if entry.kind == "file" then
    walk.files[#walk.files + 1] = { path = entry.path, bytes = entry.bytes or 0 }
  elseif entry.kind ~= "directory" then
    skip(walk, entry.path, "not a regular file")
  elseif filetypes.is_no_source(entry.path) then
    skip(walk, entry.path, "not part of the sources")
  else
    queue[#queue + 1] = entry.path
  end
end

local function has_room(walk)
  return #walk.files < walk.max_files and walk.calls_left > 0
end

-- Lists the start folder and all below it. Returns the host's error where the start cannot be listed.
local function explore(walk)
  local queue, at = { walk.start }, 1
  while at <= #queue do
    if not has_room(walk) then
      walk.complete = false
      return nil
    end
    local entries, problem = list(walk, queue[at])
    if not entries and at == 1 then
      return problem
    elseif not entries then
      skip(walk, queue[at], reason_of(problem))
    end
    for _, entry in ipairs(entries or {}) do
      if not has_room(walk) then
        walk.complete = false
        return nil
      end
      take(walk, entry, queue)
    end
    at = at + 1
  end
  return nil
end

-- The text of a file, or nil; why not is noted in the walk.
local function read_text(walk, file)
  if file.bytes > MAX_READ_BYTES then
    skip(walk, file.path, "too large to read: " .. textkit.bytes(file.bytes))
    return nil
  end
  if walk.calls_left <= 0 then
    walk.complete = false
    skip(walk, file.path, "not read: the allowed host calls are used up")
    return nil
  end
  local text, problem = ask(walk, "fs_read_text", { path = file.path, max_bytes = MAX_READ_BYTES })
  if not text then
    skip(walk, file.path, reason_of(problem))
    return nil
  end
  if text:find("\0", 1, true) then
    skip(walk, file.path, "not text")
    return nil
  end
  return text
end

-- Adds one file to the group `key`, which is made at its first file.
local function add_to(groups, key, file, lines)
  local group = groups[key] or { files = 0, bytes = 0, lines = 0 }
  group.files, group.bytes, group.lines = group.files + 1, group.bytes + file.bytes, group.lines + lines
  groups[key] = group
end

local function larger(one, other, name)
  if one.bytes ~= other.bytes then
    return one.bytes > other.bytes
  end
  return one[name] < other[name]
end

-- Groups as a list, the largest first; `label` is the field that takes a group's key.
local function ranked(groups, label)
  local all = {}
  for key, group in pairs(groups) do
    group[label] = key
    all[#all + 1] = group
  end
  table.sort(all, function(one, other) return larger(one, other, label) end)
  return table.move(all, 1, math.min(SHOWN_GROUPS, #all), 1, {})
end

local function biggest_of(files)
  local sorted = table.move(files, 1, #files, 1, {})
  table.sort(sorted, function(one, other) return larger(one, other, "path") end)
  return table.move(sorted, 1, math.min(SHOWN_BIGGEST, #sorted), 1, {})
end

local function notable_of(files)
  local notable = {}
  for _, file in ipairs(files) do
    local role = filetypes.role(file.path)
    if role and #notable < SHOWN_NOTABLE then
      notable[#notable + 1] = { path = file.path, role = role }
    end
  end
  return notable
end

-- The README of the start folder itself, or nil.
local function find_readme(walk)
  local prefix = walk.start == "." and "" or walk.start .. "/"
  local by_name = {}
  for _, file in ipairs(walk.files) do
    local name = filetypes.name(file.path)
    if file.path == prefix .. name then
      by_name[name:lower()] = file
    end
  end
  for _, name in ipairs(README_NAMES) do
    if by_name[name] then
      return by_name[name]
    end
  end
  return nil
end

local function describe_readme(file, text)
  local heading, paragraph = readme.opening(text)
  return {
    path = file.path,
    heading = heading and (textkit.cut(heading, 200)),
    paragraph = paragraph and (textkit.cut(paragraph, 600)),
  }
end

-- Reads every file whose name says that it is text, and sums up bytes and lines.
local function measure(walk)
  local totals = { bytes = 0, lines = 0, languages = {}, extensions = {} }
  local readme_file = find_readme(walk)
  for _, file in ipairs(walk.files) do
    local language, lines = filetypes.language(file.path), 0
    local text = language and read_text(walk, file)
    if text then
      lines = textkit.count_lines(text)
    end
    if text and file == readme_file then
      totals.readme = describe_readme(file, text)
    end
    if language then
      add_to(totals.languages, language, file, lines)
    end
    local extension = filetypes.extension(file.path)
    add_to(totals.extensions, extension == "" and "(none)" or extension, file, lines)
    totals.bytes, totals.lines = totals.bytes + file.bytes, totals.lines + lines
  end
  return totals
end

local function sentence(walk, totals, languages)
  local text = string.format("%s in %s, %s, %s of text", textkit.counted(#walk.files, "file"),
    textkit.counted(walk.folders, "folder"), textkit.bytes(totals.bytes), textkit.counted(totals.lines, "line"))
  if languages[1] then
    text = text .. ", mostly " .. languages[1].language
  end
  return walk.complete and text or text .. " (not everything was looked at)"
end

local function summarize(walk)
  local totals = measure(walk)
  local languages = ranked(totals.languages, "language")
  return {
    path = walk.start,
    summary = sentence(walk, totals, languages),
    files = #walk.files,
    folders = walk.folders,
    bytes = totals.bytes,
    lines = totals.lines,
    languages = languages,
    extensions = ranked(totals.extensions, "extension"),
    readme = totals.readme,
    biggest = biggest_of(walk.files),
    notable = notable_of(walk.files),
    skipped = walk.skipped,
    skipped_total = walk.skipped_total,
    complete = walk.complete,
  }
end

-- "src/", "./src" and "src" are one folder; "" and "." are the workspace itself.
local function folder_of(path)
  while #path > 1 and path:sub(-1) == "/" do
    path = path:sub(1, -2)
  end
  while path:sub(1, 2) == "./" do
    path = path:sub(3)
  end
  return path == "" and "." or path
end

-- The host's own words on the start folder: there is none, it is a file, it is not granted.
local function refused(problem)
  if type(problem) ~= "table" then
    error(problem, 0)
  end
  return { ok = false, error = { kind = problem.kind, message = problem.message, retryable = problem.retryable } }
end

local function invoke(ctx, request)
  local payload = request.payload
  local walk = new_walk(ctx.host, folder_of(payload.path or "."), payload.max_files or DEFAULT_MAX_FILES)
  local problem = explore(walk)
  if problem then
    return refused(problem)
  end
  return { ok = true, result = summarize(walk) }
end

-- Healthy where the workspace can be listed at all.
local function health_check(ctx)
  ctx.host.fs_list({ path = ".", limit = 1 })
  return { ok = true }
end

return { invoke = invoke, health_check = health_check }
