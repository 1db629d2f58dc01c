-- topic.normalize: brings a topic into the one form that the event bus accepts.
--
-- A topic is `/segment/segment`: 1 to 16 segments of 1 to 64 characters from A-Z a-z 0-9 _ . - and none
-- of them is `.` or `..`, which lead nowhere in a topic and are left out here.
-- Topics are compared byte for byte, so two spellings of one name would never meet. This tool
-- therefore writes them in lower case, although the bus itself takes capitals too.

local textkit = require("textkit")

local MAX_SEGMENTS = 16
local MAX_SEGMENT_CHARACTERS = 64

-- First segments that only the kernel may emit to.
local KERNEL_ROOTS = {
  capability = true, hardware = true, adapter = true, mcp = true,
  skill = true, plugin = true, audit = true, runtime = true,
}

local function invalid_input(message)
  return { ok = false, error = { kind = "InvalidInput", message = message, retryable = false } }
end

-- Collects what was changed, each thing once, in the order in which it happened.
local function change_log()
  local log, seen = { changes = {} }, {}
  function log.note(change)
    if not seen[change] then
      seen[change] = true
      log.changes[#log.changes + 1] = change
    end
  end
  return log
end

local function replace(text, pattern, replacement, log, change)
  local replaced, count = text:gsub(pattern, replacement)
  if count > 0 then
    log.note(change)
  end
  return replaced
end

local function normalize_segment(segment, log)
  local trimmed = textkit.trim(segment)
  if trimmed ~= segment then
    log.note("trimmed")
  end
  local text = replace(trimmed, "%s", "-", log, "spaces_replaced")
  text = replace(text, "[^%w_.-]", "", log, "characters_removed")
  text = replace(text, "%u", string.lower, log, "lower_cased")
  return (text == "." or text == "..") and "" or text
end

-- Which of the changes to the slashes apply to the text between its first and last one.
local function note_slashes(text, log)
  if text:sub(1, 1) ~= "/" then
    log.note("slash_added")
  end
  if #text > 1 and text:sub(-1) == "/" then
    log.note("trailing_slash_removed")
  end
  if text:find("//", 1, true) then
    log.note("slashes_collapsed")
  end
end

local function too_long(segment)
  if #segment > MAX_SEGMENT_CHARACTERS then
    return string.format("segment %q has %d characters, %d are allowed",
      (textkit.cut(segment, 20)) .. "…", #segment, MAX_SEGMENT_CHARACTERS)
  end
end

-- Returns the segments, or nil and why there are none. `normalize_one` turns the text of one segment
-- into its final form; a segment that comes out empty is left out.
local function split_topic(topic, log, normalize_one)
  local text = textkit.trim(topic)
  if text ~= topic then
    log.note("trimmed")
  end
  note_slashes(text, log)
  local segments = {}
  for _, part in ipairs(textkit.split(text, "/")) do
    local segment = normalize_one(part, log)
    if segment ~= "" then
      local problem = too_long(segment)
      if problem then
        return nil, problem
      end
      segments[#segments + 1] = segment
    elseif part ~= "" then
      log.note("segment_removed")
    end
  end
  if #segments == 0 then
    return nil, "nothing is left of it: a topic needs at least one segment of letters, digits, '_', '.' or '-'"
  end
  if #segments > MAX_SEGMENTS then
    return nil, string.format("it has %d segments, %d are allowed", #segments, MAX_SEGMENTS)
  end
  return segments
end

-- Wildcards stand for themselves in a pattern.
local function normalize_pattern_segment(segment, log)
  local trimmed = textkit.trim(segment)
  if trimmed == "*" or trimmed == "**" then
    return trimmed
  end
  return normalize_segment(segment, log)
end

local function normalize_pattern(pattern)
  local segments, problem = split_topic(pattern, change_log(), normalize_pattern_segment)
  if not segments then
    return nil, problem
  end
  for index, segment in ipairs(segments) do
    if segment == "**" and index < #segments then
      return nil, "'**' may only be its last segment"
    end
  end
  return segments
end

-- `*` is exactly one segment, a last `**` any number of them, none included.
local function matches(pattern, topic)
  for index, segment in ipairs(pattern) do
    if segment == "**" then
      return true
    end
    if topic[index] == nil or (segment ~= "*" and segment ~= topic[index]) then
      return false
    end
  end
  return #pattern == #topic
end

local function joined(segments)
  return "/" .. table.concat(segments, "/")
end

local function invoke(_, request)
  local topic, pattern = request.payload.topic, request.payload.pattern
  if topic:find("*", 1, true) then
    -- Dropping the wildcard would quietly name another topic.
    return invalid_input("topic: a topic has no wildcards; give a pattern as `pattern`")
  end
  local log = change_log()
  local segments, problem = split_topic(topic, log, normalize_segment)
  if not segments then
    return invalid_input("topic: " .. problem)
  end
  local result = {
    topic = joined(segments),
    segments = segments,
    changed = joined(segments) ~= topic,
    changes = log.changes,
    kernel_only = KERNEL_ROOTS[segments[1]] == true,
  }
  if pattern then
    local wanted, pattern_problem = normalize_pattern(pattern)
    if not wanted then
      return invalid_input("pattern: " .. pattern_problem)
    end
    result.pattern = joined(wanted)
    result.matches = matches(wanted, segments)
  end
  return { ok = true, result = result }
end

local function health_check()
  local segments = split_topic(" Repo//Changed/ ", change_log(), normalize_segment)
  return { ok = segments ~= nil and joined(segments) == "/repo/changed" }
end

return { invoke = invoke, health_check = health_check }
