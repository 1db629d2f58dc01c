-- Lua values into MessagePack for the host, or the reason why not.
--
-- Only raw access: no metamethod of a handler runs here. Each table allocates, so that a call that was
-- ended stops at the next one. An empty table that nobody marked goes out as an extension value, since
-- only the schema knows what it is.

local K = ...
local type, next, error, rawequal, rawlen = type, next, error, rawequal, rawlen
local get, math_type, huge = debug.getmetatable, math.type, math.huge
local char, pack, gsub, concat = string.char, string.pack, string.gsub, table.concat
local utf8_len = utf8.len
local null, ARRAY, OBJECT, shown, alive = K.null, K.ARRAY, K.OBJECT, K.shown, K.alive

local MAX_DEPTH = 64
local EMPTY = "\xc7\x00\x01"

local TOO_LARGE, BAD = {}, {}
K.TOO_LARGE = TOO_LARGE

local SMALL, TEXT, LISTS, MAPS = {}, {}, {}, {}
for n = -32, 127 do
  SMALL[n] = char(n & 0xff)
end
for n = 0, 31 do
  TEXT[n] = char(0xa0 | n)
end
for n = 0, 15 do
  LISTS[n], MAPS[n] = char(0x90 | n), char(0x80 | n)
end

local parts, count, size, limit
local path, above, names

local function bad(message, depth)
  error({ BAD, message, depth }, 0)
end

local function emit(piece)
  size = size + #piece
  if size > limit then
    error(TOO_LARGE, 0)
  end
  count = count + 1
  parts[count] = piece
end

local function text_header(n)
  return TEXT[n] or (n < 256 and pack("BB", 0xd9, n)) or (n < 65536 and pack(">BI2", 0xda, n)) or pack(">BI4", 0xdb, n)
end

local function put_text(text, depth)
  local n = #text
  size = size + n + 1
  if size > limit then
    error(TOO_LARGE, 0)
  end
  if not utf8_len(text) then
    bad("the text is not valid UTF-8", depth)
  end
  parts[count + 1], parts[count + 2] = TEXT[n] or text_header(n), text
  count = count + 2
end

-- Names repeat, so each is checked and packed once.
local function put_name(name, depth)
  local packed = names[name]
  if not packed then
    if size + #name > limit then
      error(TOO_LARGE, 0)
    end
    if not utf8_len(name) then
      bad("the name is not valid UTF-8", depth)
    end
    packed = text_header(#name) .. name
    names[name] = packed
  end
  emit(packed)
end

local function integer(n)
  if n >= 0 then
    return n < 256 and pack("BB", 0xcc, n)
      or n < 65536 and pack(">BI2", 0xcd, n)
      or n < 4294967296 and pack(">BI4", 0xce, n)
      or pack(">Bi8", 0xcf, n)
  end
  return n >= -128 and pack("Bb", 0xd0, n) or pack(">Bi8", 0xd3, n)
end

local function put_number(n, depth)
  if math_type(n) == "integer" then
    return emit(SMALL[n] or integer(n))
  end
  if n ~= n or n == huge or n == -huge then
    bad("a number that is not finite", depth)
  end
  return emit(pack(">Bd", 0xcb, n))
end

local function header(n, short, code)
  return short[n] or (n < 65536 and pack(">BI2", code, n)) or pack(">BI4", code + 1, n)
end

local put

-- Array elements by position, for tables whose own order is another.
local function put_by_position(t, depth)
  local n = 0
  for key in next, t do
    if math_type(key) ~= "integer" then
      bad("a table with both positions and names", depth - 1)
    end
    n = n + 1
  end
  for i = 1, n do
    if t[i] == nil then
      bad("an array with holes (json.null stands for no value)", depth - 1)
    end
    path[depth] = i
    put(t[i], depth)
  end
  return n
end

local function put_list(t, depth)
  local place, before = count, size
  local n = 0
  for key, value in next, t do
    n = n + 1
    if key ~= n then
      count, size = place, before
      n = put_by_position(t, depth)
      break
    end
    path[depth] = n
    put(value, depth)
  end
  return n
end

local function put_map(t, depth)
  local n = 0
  for key, value in next, t do
    if type(key) ~= "string" then
      bad(type(key) == "number" and "a table with both positions and names" or "a " .. type(key) .. " as a name", depth - 1)
    end
    n = n + 1
    path[depth] = key
    put_name(key, depth)
    put(value, depth)
  end
  return n
end

local function too_deep(depth)
  for i = 1, depth do
    for j = i + 1, depth do
      if rawequal(above[i], above[j]) then
        bad("a table that contains itself", i - 1)
      end
    end
  end
  bad("nested deeper than " .. MAX_DEPTH .. " tables", depth - 1)
end

local function put_table(t, depth)
  alive()
  above[depth] = t
  if depth > MAX_DEPTH then
    too_deep(depth)
  end
  local first = next(t)
  if first == nil then
    local mark = get(t)
    return emit(mark == ARRAY and LISTS[0] or mark == OBJECT and MAPS[0] or EMPTY)
  end
  emit("\xdf") -- holds the place of the header, whose number is not known yet
  local place = count
  if type(first) == "string" then
    parts[place] = header(put_map(t, depth), MAPS, 0xde)
  elseif math_type(first) == "integer" then
    parts[place] = header(put_list(t, depth), LISTS, 0xdc)
  else
    bad("a " .. type(first) .. (type(first) == "number" and " with a fraction" or "") .. " as a name", depth - 1)
  end
  size = size + #parts[place] - 1
end

function put(value, depth)
  local kind = type(value)
  if kind == "string" then
    put_text(value, depth)
  elseif kind == "number" then
    put_number(value, depth)
  elseif kind == "boolean" then
    emit(value and "\xc3" or "\xc2")
  elseif kind == "table" then
    if rawequal(value, null) then
      emit("\xc0")
    else
      put_table(shown(value) or value, depth + 1)
    end
  else
    bad("a " .. kind .. " cannot leave Lua", depth)
  end
end

local function pointer(depth)
  local steps = {}
  for i = 1, depth do
    local step = path[i]
    steps[i] = type(step) == "number" and step - 1 or gsub(gsub(step, "~", "~0"), "/", "~1")
  end
  return depth > 0 and "/" .. concat(steps, "/") or ""
end

-- The bytes of `value`; raises TOO_LARGE past `most` bytes. nil goes out as null.
function K.pack(value, most)
  parts, count, size, limit = {}, 0, 0, most
  path, above, names = {}, {}, {}
  if value == nil then
    return "\xc0"
  end
  put(value, 0)
  return concat(parts, "", 1, count)
end

-- If `e` is why K.pack refused a value: its JSON pointer and the reason.
function K.refused(e)
  if type(e) == "table" and e[1] == BAD then
    return pointer(e[3]), e[2]
  end
end
