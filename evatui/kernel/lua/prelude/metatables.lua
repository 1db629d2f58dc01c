-- setmetatable with a private copy of the metamethods.
--
-- A finalizer (__gc) and the clearing of weak tables (__mode) run where no hook fires, so neither may
-- ever be installed, also not later through the table that was given. The copy holds what was known
-- when setmetatable was called, and getmetatable answers with the original.

local K = ...
local set, get, rawget, rawequal, type, error = setmetatable, debug.getmetatable, rawget, rawequal, type, error
local is_verdict, is_dead, retold = K.is_verdict, K.is_dead, K.retold

local NAMES = {
  "__index", "__newindex", "__call", "__concat", "__len", "__eq", "__lt", "__le", "__unm", "__add", "__sub",
  "__mul", "__div", "__mod", "__pow", "__idiv", "__band", "__bor", "__bxor", "__shl", "__shr", "__bnot",
  "__tostring", "__name", "__pairs", "__metatable",
}
local MAX_CHAIN = 30
local ORIGINAL = {}
local CLOSE = {}

-- All weak, not only the keys: a chain of ephemerons takes seconds to collect, and no hook fires there.
local copies = set({}, { __mode = "kv" })
local own = {}

-- Marks a metatable of the kernel's own. `shown` is what getmetatable says; with nil it says that there
-- is none, and a handler may replace it.
function K.own(metatable, shown)
  own[metatable] = shown or false
  return metatable
end

-- What a read-only view does about a change. Views have a metatable each, and this is how they are known:
-- no handler gets hold of this function, and so none can make a metatable with it.
local function refuse()
  error("this table is read-only", 2)
end

local function is_view(metatable)
  return rawequal(metatable.__newindex, refuse)
end

K.refuse = refuse

-- A handler's closing function must not run once there is a verdict: a deep stack of them would
-- outlive it by far.
local function closer(f)
  return function(value, e)
    if is_dead() or is_verdict(e) then
      return
    end
    return f(value, retold(e))
  end
end

local function unchanged(copy, metatable)
  for i = 1, #NAMES do
    local name = NAMES[i]
    if not rawequal(copy[name], rawget(metatable, name)) then
      return false
    end
  end
  return rawequal(copy[CLOSE], rawget(metatable, "__close"))
end

local function copied(metatable)
  local copy = copies[metatable]
  if copy and unchanged(copy, metatable) then
    return copy
  end
  copy = { [ORIGINAL] = metatable }
  for i = 1, #NAMES do
    local name = NAMES[i]
    copy[name] = rawget(metatable, name)
  end
  local close = rawget(metatable, "__close")
  if close ~= nil then
    copy[CLOSE] = close
    local kind = type(close)
    copy.__close = (kind == "function" or kind == "table") and closer(close) or close -- a table may be callable
  end
  copies[metatable] = copy
  return copy
end

local function leads_far(t, name)
  for _ = 1, MAX_CHAIN do
    local metatable = type(t) == "table" and get(t)
    if not metatable then
      return false
    end
    t = rawget(metatable, name)
  end
  return true
end

-- Are so many tables behind `t`, one behind the other, that C would take long to look through them?
function K.is_deep(t)
  return leads_far(t, "__index") or leads_far(t, "__newindex")
end

function K.base.setmetatable(t, metatable)
  if type(t) ~= "table" then
    error("bad argument #1 to 'setmetatable' (table expected, got " .. type(t) .. ")", 2)
  end
  if metatable ~= nil and type(metatable) ~= "table" then
    error("bad argument #2 to 'setmetatable' (nil or table expected, got " .. type(metatable) .. ")", 2)
  end
  local old = get(t)
  if old and (own[old] or is_view(old) or rawget(old, "__metatable") ~= nil) then
    error("cannot change a protected metatable", 2)
  end
  if metatable == nil then
    return set(t, nil)
  end
  for _, name in K.next, { "__gc", "__mode" } do
    if rawget(metatable, name) ~= nil then
      error(name .. " is not available here: finalizers and weak tables are not supported", 2)
    end
  end
  return set(t, copied(metatable))
end

function K.base.getmetatable(value)
  local metatable = get(value)
  if not metatable then
    return nil
  end
  if is_view(metatable) then
    return "read-only"
  end
  local shown = own[metatable]
  if shown ~= nil then
    return shown or nil
  end
  local said = rawget(metatable, "__metatable")
  if said ~= nil then
    return said
  end
  return metatable[ORIGINAL]
end
