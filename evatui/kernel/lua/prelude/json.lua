-- json.encode and json.decode: ordinary Lua under the same limits as the handler that calls them.

local K = ...
local type, next, error, rawequal, tonumber = type, next, error, rawequal, tonumber
local byte, char, find, format, gsub, match, sub = string.byte, string.char, string.find, string.format, string.gsub, string.match, string.sub
local concat, sort, utf8_char, utf8_len = table.concat, table.sort, utf8.char, utf8.len
local math_type, huge, get, set = math.type, math.huge, debug.getmetatable, setmetatable
local null, ARRAY, OBJECT, shown = K.null, K.ARRAY, K.OBJECT, K.shown

local MAX_DEPTH = 64

local NAMED = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\b"] = "\\b", ["\f"] = "\\f" }
local PLAIN = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", n = "\n", r = "\r", t = "\t", b = "\b", f = "\f" }

local function fail(message)
  error("json: " .. message, 0)
end

local function escape(letter)
  return NAMED[letter] or format("\\u%04x", byte(letter))
end

local function quote(text)
  if not utf8_len(text) then
    fail("text that is not valid UTF-8 cannot be encoded")
  end
  return '"' .. gsub(text, '[%c"\\\127]', escape) .. '"'
end

local write

local function write_list(t, parts, depth)
  local n = 0
  for key in next, t do
    if math_type(key) ~= "integer" then
      fail("a table with both positions and names cannot be encoded")
    end
    n = n + 1
  end
  for i = 1, n do
    if t[i] == nil then
      fail("an array with holes cannot be encoded (json.null stands for no value)")
    end
    parts[#parts + 1] = i == 1 and "[" or ","
    write(t[i], parts, depth)
  end
  parts[#parts + 1] = "]"
end

local function write_map(t, parts, depth)
  local keys = {}
  for key in next, t do
    if type(key) ~= "string" then
      fail("a " .. type(key) .. " cannot be a name")
    end
    keys[#keys + 1] = key
  end
  sort(keys)
  for i = 1, #keys do
    parts[#parts + 1] = i == 1 and "{" or ","
    parts[#parts + 1] = quote(keys[i])
    parts[#parts + 1] = ":"
    write(t[keys[i]], parts, depth)
  end
  parts[#parts + 1] = "}"
end

local function write_table(t, parts, depth)
  if depth > MAX_DEPTH then
    fail("nested deeper than " .. MAX_DEPTH .. " tables, or a table that contains itself")
  end
  local first = next(t)
  if first == nil then
    parts[#parts + 1] = get(t) == ARRAY and "[]" or "{}"
  elseif math_type(first) == "integer" then
    write_list(t, parts, depth)
  else
    write_map(t, parts, depth)
  end
end

local function number_text(n)
  if math_type(n) == "integer" then
    return format("%d", n)
  end
  if n ~= n or n == huge or n == -huge then
    fail("a number that is not finite cannot be encoded")
  end
  local text = format("%.17g", n)
  local short = format("%.15g", n)
  text = tonumber(short) == n and short or text
  return find(text, "[.eE]") and text or text .. ".0"
end

function write(value, parts, depth)
  local kind = type(value)
  if kind == "string" then
    parts[#parts + 1] = quote(value)
  elseif kind == "number" then
    parts[#parts + 1] = number_text(value)
  elseif kind == "boolean" then
    parts[#parts + 1] = value and "true" or "false"
  elseif kind == "nil" or rawequal(value, null) then
    parts[#parts + 1] = "null"
  elseif kind == "table" then
    write_table(shown(value) or value, parts, depth + 1)
  else
    fail("a " .. kind .. " cannot be encoded")
  end
end

function K.json.encode(value)
  local parts = {}
  write(value, parts, 0)
  return concat(parts)
end

local read

local function wrong(i, wanted)
  fail(wanted .. " expected at byte " .. i)
end

local function skip(text, i)
  return find(text, "[^ \t\r\n]", i) or #text + 1
end

local function unicode(text, i)
  local code = tonumber(match(text, "^u(%x%x%x%x)", i) or wrong(i, "four hexadecimal digits"), 16)
  if code >= 0xD800 and code <= 0xDBFF then
    local low = tonumber(match(text, "^\\u(%x%x%x%x)", i + 5) or "0", 16)
    if low < 0xDC00 or low > 0xDFFF then
      wrong(i, "the second half of a character")
    end
    return utf8_char(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), i + 11
  elseif code >= 0xDC00 and code <= 0xDFFF then
    wrong(i, "the first half of a character")
  end
  return utf8_char(code), i + 5
end

-- `i` is just past the opening quote.
local function read_text(text, i)
  local parts, from = {}, i
  while true do
    local stop = find(text, '["\\%c]', i) or wrong(#text + 1, "a closing quote")
    local letter = sub(text, stop, stop)
    if letter == "\127" then
      i = stop + 1
    elseif letter == '"' then
      parts[#parts + 1] = sub(text, from, stop - 1)
      return concat(parts), stop + 1
    elseif letter ~= "\\" then
      wrong(stop, "an escaped control character")
    else
      parts[#parts + 1] = sub(text, from, stop - 1)
      local escaped = sub(text, stop + 1, stop + 1)
      if escaped == "u" then
        parts[#parts + 1], i = unicode(text, stop + 1)
      else
        parts[#parts + 1], i = PLAIN[escaped] or wrong(stop + 1, "an escape"), stop + 2
      end
      from = i
    end
  end
end

local function read_list(text, i, depth)
  local list = set({}, ARRAY)
  i = skip(text, i)
  if byte(text, i) == 93 then
    return list, i + 1
  end
  while true do
    list[#list + 1], i = read(text, i, depth)
    i = skip(text, i)
    local c = byte(text, i)
    if c == 93 then
      return list, i + 1
    elseif c ~= 44 then
      wrong(i, "',' or ']'")
    end
    i = i + 1
  end
end

local function read_map(text, i, depth)
  local map = {}
  i = skip(text, i)
  if byte(text, i) == 125 then
    return set(map, OBJECT), i + 1
  end
  while true do
    i = skip(text, i)
    if byte(text, i) ~= 34 then
      wrong(i, "a name in quotes")
    end
    local key
    key, i = read_text(text, i + 1)
    i = skip(text, i)
    if byte(text, i) ~= 58 then
      wrong(i, "':'")
    end
    map[key], i = read(text, i + 1, depth)
    i = skip(text, i)
    local c = byte(text, i)
    if c == 125 then
      return map, i + 1
    elseif c ~= 44 then
      wrong(i, "',' or '}'")
    end
    i = i + 1
  end
end

local WORDS = { t = { "true", true }, f = { "false", false }, n = { "null", null } }

local function read_number(text, i)
  local whole = match(text, "^-?0", i)
  whole = whole and not find(text, "^%d", i + #whole) and whole or match(text, "^-?[1-9]%d*", i) or wrong(i, "a value")
  local fraction = match(text, "^%.%d+", i + #whole) or ""
  local exponent = match(text, "^[eE][+-]?%d+", i + #whole + #fraction) or ""
  local literal = whole .. fraction .. exponent
  return tonumber(literal), i + #literal
end

function read(text, i, depth)
  i = skip(text, i)
  local letter = sub(text, i, i)
  if letter == '"' then
    return read_text(text, i + 1)
  elseif letter == "{" or letter == "[" then
    if depth >= MAX_DEPTH then
      fail("nested deeper than " .. MAX_DEPTH)
    end
    return (letter == "{" and read_map or read_list)(text, i + 1, depth + 1)
  end
  local word = WORDS[letter]
  if word and sub(text, i, i + #word[1] - 1) == word[1] then
    return word[2], i + #word[1]
  end
  return read_number(text, i)
end

function K.json.decode(text)
  if type(text) ~= "string" then
    fail("text expected, got " .. type(text))
  end
  if not utf8_len(text) then
    fail("the text is not valid UTF-8")
  end
  local value, i = read(text, 1, 0)
  i = skip(text, i)
  if i <= #text then
    wrong(i, "the end")
  end
  return value
end
