-- A light reader for configuration in YAML: where each value stands, line by line.
--
-- It knows what people write by hand: nested mappings, lists, `[a, b]` and `{a: b}`, quotes,
-- comments and block texts. It is no YAML parser: anchors, tags and texts over several lines are
-- passed over. What it says is meant for hints with a line number, never for a decision.

local textkit = require("textkit")

local yamllines = {}

local QUOTES = { ["'"] = true, ['"'] = true }
local OPENING = { ["["] = 1, ["{"] = 1, ["]"] = -1, ["}"] = -1 }

-- Calls `visit(position, character)` for each character outside of quotes, until it returns true.
-- A quote opens a quoted text only at the start of a value: "it's" has none.
local function outside_quotes(text, visit)
  local quote, previous = nil, " "
  for position = 1, #text do
    local character = text:sub(position, position)
    if quote then
      if character == quote then
        quote = nil
      end
    elseif QUOTES[character] and previous:find("^[%s%[{,:]") then
      quote = character
    elseif visit(position, character, previous) then
      return
    end
    previous = character
  end
end

local function without_comment(line)
  local last = #line
  outside_quotes(line, function(position, character, previous)
    if character == "#" and previous:find("^%s") then
      last = position - 1
      return true
    end
  end)
  return line:sub(1, last)
end

-- How many more brackets does the text open than close?
local function open_brackets(text)
  local depth = 0
  outside_quotes(text, function(_, character)
    depth = depth + (OPENING[character] or 0)
  end)
  return depth
end

local function unquoted(text)
  local first, last = text:sub(1, 1), text:sub(-1)
  if #text >= 2 and first == last and QUOTES[first] then
    return text:sub(2, -2)
  end
  return text
end

-- The key and the rest of `key: rest`, or nil.
local function split_key(text)
  local colon
  outside_quotes(text, function(position, character)
    local after = text:sub(position + 1, position + 1)
    if character == ":" and (after == "" or after == " ") then
      colon = position
      return true
    end
  end)
  if not colon or colon == 1 then
    return nil
  end
  return unquoted(textkit.trim(text:sub(1, colon - 1))), textkit.trim(text:sub(colon + 1))
end

-- The parts of the inside of `[…]` or `{…}` between its own commas.
local function split_items(inside)
  local items, from, depth = {}, 1, 0
  outside_quotes(inside, function(position, character)
    depth = depth + (OPENING[character] or 0)
    if character == "," and depth == 0 then
      items[#items + 1] = textkit.trim(inside:sub(from, position - 1))
      from = position + 1
    end
  end)
  items[#items + 1] = textkit.trim(inside:sub(from))
  return items
end

local function add(reader, path, value, line)
  reader.entries[#reader.entries + 1] = { path = path, value = value, line = line }
end

-- Notes a value; what stands in brackets becomes entries of its own, under `path[]` or `path.key`.
local function add_value(reader, path, text, line)
  local first = text:sub(1, 1)
  if first ~= "[" and first ~= "{" then
    add(reader, path, text ~= "" and unquoted(text) or nil, line)
    return
  end
  add(reader, path, nil, line)
  for _, item in ipairs(split_items(text:sub(2, -2))) do
    if first == "[" and item ~= "" then
      add_value(reader, path .. "[]", item, line)
    elseif item ~= "" then
      local key, rest = split_key(item)
      if key then
        add_value(reader, path .. "." .. key, rest, line)
      end
    end
  end
end

-- The innermost mapping or list that a line at this indentation belongs to.
local function parent_of(reader, indent, is_item)
  local stack = reader.stack
  -- A list may stand at the indentation of its own key.
  local function is_done(frame)
    return frame.indent > indent or (frame.indent == indent and not (is_item and not frame.is_item))
  end
  while #stack > 1 and is_done(stack[#stack]) do
    stack[#stack] = nil
  end
  return stack[#stack]
end

local function note_duplicate(reader, parent, key, line)
  if parent.keys[key] then
    reader.problems[#reader.problems + 1] = {
      line = line, code = "yaml_duplicate_key",
      message = string.format("'%s' stands here again, first on line %d", key, parent.keys[key]),
    }
  end
  parent.keys[key] = parent.keys[key] or line
end

local function read_pair(reader, parent, indent, text, line)
  local key, rest = split_key(text)
  if not key then
    return
  end
  note_duplicate(reader, parent, key, line)
  local path = parent.path == "" and key or parent.path .. "." .. key
  if rest:find("^[|>]") then
    reader.block_indent = indent
    rest = ""
  end
  add_value(reader, path, rest, line)
  reader.stack[#reader.stack + 1] = { indent = indent, path = path, keys = {} }
end

local function read_item(reader, indent, text, line)
  local parent = parent_of(reader, indent, true)
  local path = parent.path .. "[]"
  local rest = textkit.trim(text:sub(2))
  local frame = { indent = indent, path = path, keys = {}, is_item = true }
  reader.stack[#reader.stack + 1] = frame
  if split_key(rest) and not rest:find("^[%[{]") then
    -- The item is a mapping; its further keys stand where this first one begins.
    read_pair(reader, frame, indent + #text - #rest, rest, line)
  elseif rest ~= "" then
    add_value(reader, path, rest, line)
  end
end

local function read_content(reader, indent, text, line)
  if text == "-" or text:sub(1, 2) == "- " then
    read_item(reader, indent, text, line)
  elseif text:sub(1, 3) ~= "---" then
    read_pair(reader, parent_of(reader, indent, false), indent, text, line)
  end
end

-- How many brackets does the value that begins on this line leave open?
local function left_open(content)
  local text = textkit.trim(content:find("^%- ") and content:sub(2) or content)
  local _, rest = split_key(text)
  local value = rest or text
  return value:find("^[%[{]") and math.max(0, open_brackets(value)) or 0
end

-- A value in brackets may go on over several lines; it is read once its last bracket is closed.
local function read_open_value(reader, content)
  local open = reader.open
  open.parts[#open.parts + 1] = content
  open.depth = open.depth + open_brackets(content)
  if open.depth <= 0 then
    reader.open = nil
    read_content(reader, open.indent, table.concat(open.parts, " "), open.line)
  end
end

local function note_tab(reader, line)
  reader.problems[#reader.problems + 1] = {
    line = line, code = "yaml_tab", message = "a tab in the indentation: YAML takes only spaces there",
  }
end

local function read_line(reader, number, raw)
  local line = without_comment(raw)
  local content = textkit.trim(line)
  local indent = (line:find("%S") or 1) - 1
  if content == "" or (reader.block_indent and indent > reader.block_indent) then
    return
  end
  reader.block_indent = nil
  if reader.open then
    read_open_value(reader, content)
    return
  end
  if line:sub(1, indent):find("\t", 1, true) then
    note_tab(reader, number)
  end
  local depth = left_open(content)
  if depth > 0 then
    reader.open = { parts = { content }, depth = depth, indent = indent, line = number }
  else
    read_content(reader, indent, content, number)
  end
end

-- Reads a text. Returns `entries` in their order, each {path, value, line}: path as in "lua.script",
-- "capabilities[]", "lua.modules.textkit"; value nil where a mapping, a list or nothing follows.
-- And `problems`, each {line, code, message}.
function yamllines.read(text)
  local root = { indent = -1, path = "", keys = {} }
  local reader = { entries = {}, problems = {}, stack = { root }, block_indent = nil, open = nil }
  for number, raw in textkit.lines(text) do
    read_line(reader, number, raw)
  end
  return reader.entries, reader.problems
end

return yamllines
