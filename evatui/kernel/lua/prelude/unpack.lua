-- MessagePack from the host into Lua values. The host's packer looks at types only: numbers and depth are
-- checked here, and it then finds out itself what was wrong. What is most common is read without a call.

local K = ...
local byte, sub, unpack, set, error = string.byte, string.sub, string.unpack, setmetatable, error
local null, ARRAY, OBJECT = K.null, K.ARRAY, K.OBJECT
local select = select
local refuse, length, pairs, view = K.refuse, K.view_length, K.view_pairs, K.view

local MAX_DEPTH = 64
local REFUSED = {}
K.REFUSED = REFUSED

local data, depth, read_only
local raw = false
local read, LONG

-- Tables that have their room from the start: to grow to it costs more than to fill it.
local function room(count)
  local names = {}
  for n = 1, count do
    names[n] = "_" .. n .. "=nil"
  end
  return load("return {" .. table.concat(names, ",") .. "}")
end

local MAPS, LISTS = {}, {}
for count = 1, 32 do
  MAPS[count] = count & (count - 1) == 0 and room(count) or false
end
for count = 31, 3, -1 do
  MAPS[count] = MAPS[count] or MAPS[count + 1]
end
for count = 1, 16 do
  LISTS[count] = load("return {" .. ("nil,"):rep(count) .. "}")
end

-- Numbers seldom come alone: four of a kind are read at once. By their code: how, and their width.
local FOUR, WIDTH = {}, {}
for code, format in K.next, { [0xcb] = "d", [0xcc] = "B", [0xcd] = "I2", [0xce] = "I4", [0xcf] = "i8", [0xd1] = "i2", [0xd2] = "i4", [0xd3] = "i8" } do
  FOUR[code] = (">?B?B?B?"):gsub("?", format)
  WIDTH[code] = 1 + (">" .. format):packsize()
end

local function four(t, n, i, code)
  local a, second, b, third, c, fourth, d, after = unpack(FOUR[code], data, i + 1)
  if second ~= code or third ~= code or fourth ~= code then
    t[n], after = read(i)
    return n, after
  end
  if code == 0xcb and (a - a) + (b - b) + (c - c) + (d - d) ~= 0 or code == 0xcf and a | b | c | d < 0 then
    error(REFUSED, 0)
  end
  t[n], t[n + 1], t[n + 2], t[n + 3] = a, b, c, d
  return n + 3, after
end

local map

-- Fills t[1] to t[count]; returns what comes after the last one.
local function elements(t, count, i)
  local last_four = #data
  local n = 1
  while n <= count do
    local b = byte(data, i)
    if b < 0x80 then
      t[n], i = b, i + 1
    elseif b >= 0xa0 and b < 0xc0 then
      local last = i + (b & 31)
      t[n], i = sub(data, i + 1, last), last + 1
    elseif b < 0x90 then
      t[n], i = map(b & 15, i + 1)
    elseif FOUR[b] and n + 3 <= count and i + 4 * WIDTH[b] - 1 <= last_four then
      n, i = four(t, n, i, b)
    elseif b >= 0xc0 and b < 0xe0 then
      t[n], i = LONG[b](i + 1)
    else
      t[n], i = read(i)
    end
    n = n + 1
  end
  return i
end

local function list(count, i)
  depth = depth + 1
  if depth > MAX_DEPTH then
    error(REFUSED, 0)
  end
  local make = LISTS[count]
  local t = make and make() or {}
  i = elements(t, count, i)
  depth = depth - 1
  if read_only then
    if count == 0 then
      set(t, ARRAY)
    end
    return set({}, { __index = t, __newindex = refuse, __len = length, __pairs = pairs }), i
  end
  return set(t, ARRAY), i
end

function map(count, i)
  depth = depth + 1
  if depth > MAX_DEPTH then
    error(REFUSED, 0)
  end
  local make = MAPS[count]
  local t = make and make() or {}
  for _ = 1, count do
    local key
    local b = byte(data, i)
    if b >= 0xa0 and b < 0xc0 then
      local last = i + (b & 31)
      key, i = sub(data, i + 1, last), last + 1
    else
      key, i = read(i)
    end
    b = byte(data, i)
    if b < 0x80 then
      t[key], i = b, i + 1
    elseif b >= 0xa0 and b < 0xc0 then
      local last = i + (b & 31)
      t[key], i = sub(data, i + 1, last), last + 1
    elseif b == 0xcb then
      local value
      value, i = unpack(">d", data, i + 1)
      if value - value ~= 0 then
        error(REFUSED, 0)
      end
      t[key] = value
    elseif b >= 0x90 and b < 0xa0 then
      t[key], i = list(b & 15, i + 1)
    elseif b >= 0xc0 and b < 0xe0 then
      t[key], i = LONG[b](i + 1)
    else
      t[key], i = read(i)
    end
  end
  depth = depth - 1
  if count == 0 then
    set(t, OBJECT)
  end
  if read_only then
    return set({}, { __index = t, __newindex = refuse, __len = length, __pairs = pairs }), i
  end
  return t, i
end

-- How many elements the list has that begins here, and where the first one is.
local function size(i)
  local b = byte(data, i)
  if b < 0xa0 then
    return b & 15, i + 1
  end
  return unpack(b == 0xdc and ">I2" or ">I4", data, i + 1)
end

local function rows(width, count)
  local make, t = MAPS[width], {}
  for n = 1, count do
    t[n] = make and make() or {}
  end
  return t
end

-- Records of one shape: a list of their names, and for each name a list of what they have there.
local function records(i)
  depth = depth + 2
  if depth > MAX_DEPTH then
    error(REFUSED, 0)
  end
  local names, width = {}, nil
  width, i = size(select(2, size(i)))
  i = elements(names, width, i)
  local t, column, count
  for n = 1, width do
    count, i = size(i)
    t, column = t or rows(width, count), column or {}
    i = elements(column, count, i)
    local name = names[n]
    for at = 1, count do
      t[at][name] = column[at]
    end
  end
  depth = depth - 2
  if read_only then
    for at = 1, count do
      t[at] = view(t[at])
    end
    return view(t), i
  end
  return set(t, ARRAY), i
end

local function number(code)
  return function(i)
    return unpack(code, data, i)
  end
end

local function counted(code, build)
  return function(i)
    return build(unpack(code, data, i))
  end
end

-- An extension value begins with its length and its kind, of which there is one.
local function extension(head)
  return function(i)
    return records(i + head)
  end
end

local function constant(value)
  return function(i)
    return value, i
  end
end

local function bytes(code)
  return function(i)
    if not raw then
      error(REFUSED, 0)
    end
    return unpack(code, data, i)
  end
end

LONG = {
  [0xc0] = constant(null),
  [0xc2] = constant(false),
  [0xc3] = constant(true),
  [0xc4] = bytes(">s1"),
  [0xc5] = bytes(">s2"),
  [0xc6] = bytes(">s4"),
  [0xc7] = extension(2),
  [0xc8] = extension(3),
  [0xc9] = extension(5),
  [0xcb] = function(i)
    local value, after = unpack(">d", data, i)
    if value - value ~= 0 then
      error(REFUSED, 0)
    end
    return value, after
  end,
  [0xcc] = number("B"),
  [0xcd] = number(">I2"),
  [0xce] = number(">I4"),
  [0xcf] = function(i)
    local value, after = unpack(">i8", data, i)
    if value < 0 then
      error(REFUSED, 0)
    end
    return value, after
  end,
  [0xd0] = number("b"),
  [0xd1] = number(">i2"),
  [0xd2] = number(">i4"),
  [0xd3] = number(">i8"),
  [0xd9] = number(">s1"),
  [0xda] = number(">s2"),
  [0xdb] = number(">s4"),
  [0xdc] = counted(">I2", list),
  [0xdd] = counted(">I4", list),
  [0xde] = counted(">I2", map),
  [0xdf] = counted(">I4", map),
}

function read(i)
  local b = byte(data, i)
  if b < 0x80 then
    return b, i + 1
  elseif b >= 0xe0 then
    return b - 256, i + 1
  elseif b >= 0xc0 then
    return LONG[b](i + 1)
  elseif b >= 0xa0 then
    local last = i + (b & 31)
    return sub(data, i + 1, last), last + 1
  elseif b >= 0x90 then
    return list(b & 15, i + 1)
  end
  return map(b & 15, i + 1)
end

-- The value, and where the next one begins; `fixed`: as a read-only view.
function K.unpack(packed, first, fixed)
  data, depth, read_only = packed, 0, fixed
  local value, after = read(first or 1)
  data = nil
  return value, after
end

-- The chunks of a program are the only raw bytes that come in.
function K.unpack_raw(packed)
  raw = true
  local value = K.unpack(packed)
  raw = false
  return value
end
