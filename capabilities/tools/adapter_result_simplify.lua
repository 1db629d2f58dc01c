-- adapter.result_simplify: one plain shape for whatever an adapter or an MCP server answered.
--
-- Understands MCP tool results ({content, structuredContent, isError}), envelopes ({ok, result,
-- error}, {result} or {error} of JSON-RPC, {response} of a call report), one inside the other, and
-- takes anything else as plain data. The answer is {ok, text, data, error} with everything capped;
-- what was cut or left out stands in `notes`.

local textkit = require("textkit")

local DEFAULT_MAX_DEPTH = 6
local DEFAULT_MAX_ITEMS = 50
local DEFAULT_MAX_TEXT = 4000

-- The fields of an envelope; {ok = true} with others beside it is data that says "ok".
local ENVELOPE_KEYS = { ok = true, result = true, error = true, meta = true, jsonrpc = true, id = true }

local MAX_LAYERS = 8
local MAX_NOTES = 20
local MAX_MESSAGE = 500

local function is_table(value)
  return type(value) == "table" and value ~= json.null
end

local function is_absent(value)
  return value == nil or value == json.null
end

local function is_empty(map)
  for _ in pairs(map) do
    return false
  end
  return true
end

-- The positions of an array, or the keys of an object in a fixed order.
local function keys_of(value)
  if #value == 0 then
    return textkit.sorted_keys(value)
  end
  local positions = {}
  for position = 1, #value do
    positions[position] = position
  end
  return positions
end

-- Remembers what was left out, at most MAX_NOTES of it in words.
local function new_notes()
  return { list = {}, more = 0 }
end

local function note(notes, path, what)
  if #notes.list < MAX_NOTES then
    notes.list[#notes.list + 1] = (path == "" and "the whole" or path) .. ": " .. what
  else
    notes.more = notes.more + 1
  end
end

local function cut_text(text, limit, path, notes)
  local short, was_cut = textkit.cut(text, limit)
  if was_cut then
    note(notes, path, string.format("cut from %d to %d characters", textkit.length(text), limit))
  end
  return short
end

-- A copy of a JSON value within the caps.
local function trim(value, caps, notes, path, depth)
  if type(value) == "string" then
    return cut_text(value, caps.max_text, path, notes)
  elseif not is_table(value) or is_empty(value) then
    -- An empty table is passed on as it is: only the original knows whether it is an array.
    return value
  elseif depth >= caps.max_depth then
    note(notes, path, "left out: deeper than " .. textkit.counted(caps.max_depth, "level"))
    return #value > 0 and "[…]" or "{…}"
  end
  local keys, copy = keys_of(value), {}
  local kept = math.min(#keys, caps.max_items)
  for index = 1, kept do
    local key = keys[index]
    -- Pointers count from 0, Lua from 1.
    local name = math.type(key) and key - 1 or key
    copy[key] = trim(value[key], caps, notes, path .. "/" .. name, depth + 1)
  end
  if kept < #keys then
    note(notes, path, string.format("%d of %d %s left out", #keys - kept, #keys, #value > 0 and "items" or "keys"))
  end
  return copy
end

-- Adds a value to `lines` as `path: value`, one scalar a line, in a fixed order.
local function outline(value, path, lines)
  if is_table(value) and not is_empty(value) then
    for _, key in ipairs(keys_of(value)) do
      outline(value[key], path == "" and tostring(key) or path .. "." .. key, lines)
    end
    return
  end
  local shown = is_table(value) and "(empty)" or value == json.null and "null" or tostring(value)
  lines[#lines + 1] = path == "" and shown or path .. ": " .. shown
end

local function as_text(value)
  if type(value) == "string" then
    return value
  elseif is_absent(value) then
    return ""
  end
  local lines = {}
  outline(value, "", lines)
  return table.concat(lines, "\n")
end

local function encoded_bytes(part)
  return type(part.data) == "string" and textkit.bytes(#part.data // 4 * 3) or "no data"
end

-- One part of an MCP result, as text.
local function content_text(part)
  if not is_table(part) then
    return as_text(part)
  elseif part.type == "text" then
    return as_text(part.text)
  elseif part.type == "image" or part.type == "audio" then
    return string.format("[%s %s, %s]", part.type, as_text(part.mimeType), encoded_bytes(part))
  elseif part.type == "resource" and is_table(part.resource) then
    local text = part.resource.text
    return type(text) == "string" and text or string.format("[resource %s]", as_text(part.resource.uri))
  elseif part.type == "resource_link" then
    return string.format("[link %s]", as_text(part.uri))
  end
  return as_text(part)
end

local function joined_content(content)
  local texts = {}
  for _, part in ipairs(is_table(content) and content or { content }) do
    texts[#texts + 1] = content_text(part)
  end
  return table.concat(texts, "\n")
end

-- Many servers write their data as JSON into the text.
local function parsed(text)
  local first = text:sub(1, 1)
  if first ~= "{" and first ~= "[" then
    return nil
  end
  local done, value = pcall(json.decode, text)
  return done and value or nil
end

local function failure(kind, message, retryable)
  return {
    kind = kind,
    message = message ~= "" and (textkit.cut(message, MAX_MESSAGE)) or "no message was given",
    retryable = retryable == true,
  }
end

local function first_present(...)
  for index = 1, select("#", ...) do
    local value = select(index, ...)
    if not is_absent(value) then
      return value
    end
  end
  return nil
end

-- An error in whatever shape: a text, {kind, message, retryable}, {code, message} of JSON-RPC.
local function simplify_error(value)
  if not is_table(value) then
    return failure("Error", as_text(value))
  end
  local kind = first_present(value.kind, value.code, value.name) or "Error"
  local message = first_present(value.message, value.detail) or value
  return failure(as_text(kind), as_text(message), value.retryable)
end

-- Content is a list of typed parts; plain data may well have a field `content` of another form.
local function is_content(value)
  return is_table(value) and (is_empty(value) or (is_table(value[1]) and type(value[1].type) == "string"))
end

local function is_mcp_result(value)
  return is_content(value.content) or type(value.isError) == "boolean" or is_table(value.structuredContent)
end

local function has_other_keys(value)
  for key in pairs(value) do
    if not ENVELOPE_KEYS[key] then
      return true
    end
  end
  return false
end

-- Plain data may well have a field `result`: without a clear sign nothing else may stand beside it.
local function is_envelope(value)
  if type(value.ok) == "boolean" or value.jsonrpc ~= nil then
    return true
  end
  return (value.result ~= nil or value.error ~= nil) and not has_other_keys(value)
end

local function from_mcp(value)
  local text = is_absent(value.content) and "" or joined_content(value.content)
  local data = is_table(value.structuredContent) and value.structuredContent or parsed(text)
  if value.isError == true then
    return { ok = false, text = text, data = data, error = failure("ToolError", text) }
  end
  return { ok = true, text = text, data = data }
end

local function from_plain(value)
  return { ok = true, text = as_text(value), data = value }
end

local simplify

local function from_envelope(value, layers)
  if value.ok == false or not is_absent(value.error) then
    local problem = simplify_error(is_absent(value.error) and value or value.error)
    return { ok = false, text = problem.message, error = problem }
  elseif value.result == nil and has_other_keys(value) then
    return from_plain(value)
  end
  return simplify(value.result, layers + 1)
end

function simplify(value, layers)
  if not is_table(value) or layers > MAX_LAYERS then
    return from_plain(value)
  elseif is_table(value.response) and type(value.response.ok) == "boolean" then
    return simplify(value.response, layers + 1)
  elseif is_mcp_result(value) then
    return from_mcp(value)
  elseif is_envelope(value) then
    return from_envelope(value, layers)
  end
  return from_plain(value)
end

local function caps_of(payload)
  return {
    max_depth = payload.max_depth or DEFAULT_MAX_DEPTH,
    max_items = payload.max_items or DEFAULT_MAX_ITEMS,
    max_text = payload.max_text or DEFAULT_MAX_TEXT,
  }
end

local function invoke(_, request)
  local payload = request.payload
  local caps, notes = caps_of(payload), new_notes()
  local simple = simplify(payload.result, 0)
  local data = is_absent(simple.data) and json.null or trim(simple.data, caps, notes, "", 0)
  local text = cut_text(simple.text, caps.max_text, "text", notes)
  if notes.more > 0 then
    notes.list[#notes.list + 1] = string.format("and %d more", notes.more)
  end
  return {
    ok = true,
    result = {
      ok = simple.ok,
      text = text,
      data = data,
      error = simple.error or json.null,
      truncated = #notes.list > 0,
      notes = notes.list,
    },
  }
end

local function health_check()
  local simple = simplify({ ok = true, result = { content = { { type = "text", text = "fine" } } } }, 0)
  return { ok = simple.ok and simple.text == "fine" }
end

return { invoke = invoke, health_check = health_check }
