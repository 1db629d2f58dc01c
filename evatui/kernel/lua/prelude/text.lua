-- The string and utf8 libraries without memory addresses and without calls that run long in C.
-- Patterns have a file of their own.

local K = ...
local type, tostring, tonumber, error, select, rawget, next = type, tostring, tonumber, error, select, rawget, next
local get = debug.getmetatable
local format, rep, find, gmatch, gsub = string.format, string.rep, string.find, string.gmatch, string.gsub
local unpack, pack, tointeger = table.unpack, table.pack, math.tointeger
local alive = K.alive

local MAX_REP = 1 << 30
local ADDRESSED = { table = true, ["function"] = true, thread = true, userdata = true }

-- Like the stock one, but a table is "table" and a function is "function": no address.
local function plain_tostring(value)
  local kind = type(value)
  if not ADDRESSED[kind] then
    return tostring(value)
  end
  local metatable = get(value)
  if metatable then
    local f = rawget(metatable, "__tostring")
    if f ~= nil then
      local text = f(value)
      if type(text) ~= "string" and type(text) ~= "number" then
        error("'__tostring' must return a string", 2)
      end
      return tostring(text)
    end
    local name = rawget(metatable, "__name")
    if type(name) == "string" then
      return name
    end
  end
  return kind
end

K.tostring = plain_tostring

function K.base.tostring(...)
  if select("#", ...) == 0 then
    error("bad argument #1 to 'tostring' (value expected)", 2)
  end
  return plain_tostring((...))
end

local function refuse_pointers(text)
  if find(text, "p", 1, true) and find((gsub(text, "%%%%", "")), "%%[-+ #0-9.]*p") then
    error("'%p' is not available here: no address is ever shown", 3)
  end
end

-- Only '%s' turns a value into text by itself, so only its arguments are replaced.
local function without_addresses(text, values)
  local index = 0
  for letter in gmatch(text, "%%[-+ #0-9.]*(.)") do
    if letter ~= "%" then
      index = index + 1
      if letter == "s" and ADDRESSED[type(values[index])] then
        values[index] = plain_tostring(values[index])
      end
    end
  end
  return format(text, unpack(values, 1, values.n))
end

local function safe_format(text, ...)
  if type(text) ~= "string" then
    return format(text, ...)
  end
  refuse_pointers(text)
  for i = 1, select("#", ...) do
    if ADDRESSED[type((select(i, ...)))] then
      local filled = without_addresses(text, pack(...)) -- no tail call: errors in it find their caller
      return filled
    end
  end
  return format(text, ...)
end

-- rep("", 2^60) loops in C for ever; everything else ends at the memory limit.
local function safe_rep(text, count, separator)
  count = tointeger(count) or count -- C takes a text for the number in it
  if type(text) == "string" and type(count) == "number" and count > 1 then
    local unit = #text + (type(separator) == "string" and #separator or 0)
    if unit == 0 then
      return ""
    end
    if unit > MAX_REP / count then
      error("resulting string too large", 2)
    end
  end
  return rep(text, count, separator)
end

local library = {}
for name, f in next, string do
  library[name] = f
end
library.dump = nil
library.format = safe_format
library.rep = safe_rep
K.string = library

-- Reading a long text allocates nothing, so each such call first makes sure that it may still run.
local function checked(f)
  return function(...)
    alive()
    return f(...)
  end
end

for _, name in next, { "byte", "pack", "packsize", "unpack" } do
  library[name] = checked(string[name])
end

K.utf8 = {
  char = utf8.char,
  charpattern = utf8.charpattern,
  codepoint = checked(utf8.codepoint),
  codes = utf8.codes,
  len = checked(utf8.len),
  offset = checked(utf8.offset),
}

K.base.tonumber = checked(tonumber)

local strings = get("")
for name, f in next, strings do -- the arithmetic, which reads numbers out of texts
  if type(f) == "function" then
    strings[name] = checked(f)
  end
end
strings.__index = library
K.own(strings, K.view({ __index = K.view(library) }))
