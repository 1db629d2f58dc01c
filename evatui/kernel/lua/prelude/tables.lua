-- The table library, its C loops bounded: no length or range that a handler can lie about.

local K = ...
local type, error, rawequal, rawget, rawlen, next = type, error, rawequal, rawget, rawlen, next
local tointeger, getinfo, unpack = math.tointeger, debug.getinfo, table.unpack
local get, math_type = debug.getmetatable, math.type
local concat, insert, remove, move, sort = table.concat, table.insert, table.remove, table.move, table.sort
local is_fixed, alive, is_deep = K.is_fixed, K.alive, K.is_deep

local MAX_RANGE = 4e6
local MAX_MOVE = 50000
local MAX_UNPACKED = 1000000
local MAX_TEXT = 256
local MAX_QUICK = 200000

-- C takes a text for the number in it, and a float for an integer.
local function number(value)
  return tointeger(value) or value
end

local function check_range(first, last, name)
  if type(first) == "number" and type(last) == "number" and last - first > MAX_RANGE then
    error("table." .. name .. ": the range is too large", 3)
  end
end

-- A metamethod may say another length each time it is asked, and C would loop up to it.
local function check_changeable(t, name)
  if type(t) ~= "table" then
    return
  end
  if is_fixed(t) then
    error("this table is read-only", 3)
  end
  local metatable = get(t)
  if metatable and rawget(metatable, "__len") ~= nil then
    error("table." .. name .. " does not take a table with __len", 3)
  end
  -- the length of a table with holes may be any number
  if rawlen(t) > MAX_RANGE or (metatable and name ~= "sort" and is_deep(t)) then
    error("table." .. name .. ": the table is too large", 3)
  end
end

-- What `t` has from `first` to `last`, where that is long to look up.
local function found(t, first, last)
  local values = {}
  for i = first, last do
    values[i] = t[i]
  end
  return values
end

-- Is comparing any two of these quick, and done without metamethods?
local function quick(t)
  local n = rawlen(t)
  if n > MAX_QUICK or is_deep(t) then
    return false
  end
  for i = 1, n do
    local value = t[i]
    local kind = type(value)
    if kind ~= "number" and (kind ~= "string" or #value > MAX_TEXT) then
      return false
    end
  end
  return true
end

local function less(a, b)
  return a < b
end

-- Sorting by a function in C fires no hook. In an error it is to have its own name, not the one that it has here:
-- Lua finds none for what one of two places gave.
local function hooked(before)
  if type(before) ~= "function" or getinfo(before, "S").what ~= "C" then
    return before
  end
  return function(a, b)
    return (before or less)(a, b)
  end
end

local library = {}
for name, f in next, table do
  library[name] = f
end

function library.concat(t, separator, first, last)
  alive()
  if type(t) == "table" then
    first = number(first or 1)
    last = number(last or #t)
    check_range(first, last, "concat")
    if is_deep(t) and math_type(first) == "integer" and math_type(last) == "integer" then
      t = found(t, first, last)
    end
  end
  return concat(t, separator, first, last)
end

function library.insert(t, ...)
  check_changeable(t, "insert")
  return insert(t, ...)
end

function library.remove(t, ...)
  check_changeable(t, "remove")
  return remove(t, ...)
end

local function move_by_lua(from, first, last, at, to)
  if at > last or at <= first or not rawequal(from, to) then
    for i = 0, last - first do
      to[at + i] = from[first + i]
    end
  else
    for i = last - first, 0, -1 do
      to[at + i] = from[first + i]
    end
  end
  return to
end

function library.unpack(t, first, last)
  if is_deep(t) then
    first, last = number(first or 1), number(last or #t)
    if math_type(first) == "integer" and math_type(last) == "integer" and last - first < MAX_UNPACKED then
      t = found(t, first, last)
    end
  end
  return unpack(t, first, last)
end

function library.move(from, first, last, at, to)
  first, last, at = number(first), number(last), number(at)
  check_range(first, last, "move")
  if is_fixed(to or from) then
    error("this table is read-only", 2)
  end
  local long = math_type(first) == "integer" and math_type(last) == "integer" and math_type(at) == "integer"
  if long and (last - first > MAX_MOVE or is_deep(from) or is_deep(to)) then
    return move_by_lua(from, first, last, at, to or from)
  end
  return move(from, first, last, at, to)
end

function library.sort(t, before)
  check_changeable(t, "sort")
  alive()
  if before == nil and type(t) == "table" and not quick(t) then
    before = less
  end
  return sort(t, hooked(before))
end

K.table = library
