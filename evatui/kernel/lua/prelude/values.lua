-- Values that stock Lua lacks: null, tables marked as array or object, and read-only views.

local K = ...
local set, get, next, type, error, rawequal = setmetatable, debug.getmetatable, next, type, error, rawequal
local rawget, rawset, rawlen = rawget, rawset, rawlen
local own = K.own

local null = set({}, own({
  __newindex = function()
    error("json.null is read-only", 2)
  end,
  __tostring = function()
    return "null"
  end,
}, "null"))

local ARRAY, OBJECT = own({}), own({})

K.null, K.ARRAY, K.OBJECT = null, ARRAY, OBJECT

-- A host error as a handler sees it: {kind, message, retryable}, which also prints well.
local FAILURE = own({
  __tostring = function(e)
    return (type(e.kind) == "string" and e.kind .. ": " or "") .. (type(e.message) == "string" and e.message or "")
  end,
}, "error")

function K.failure(kind, message, retryable)
  return set({ kind = kind, message = message, retryable = retryable }, FAILURE)
end

-- A view is an empty table; what it shows is kept apart, so that no raw access gets past it. Inner
-- tables become views when they are looked at. The kernel's tables never refer to views, so the weak
-- keys cannot form chains.
local shown = set({}, { __mode = "k" })
local views = set({}, { __mode = "kv" })
local VIEW

local function look(value)
  if type(value) ~= "table" or rawequal(value, null) then
    return value
  end
  local view = views[value]
  if not view then
    view = set({}, VIEW)
    views[value], shown[view] = view, value
  end
  return view
end

local function view_next(view, key)
  local k, v = next(shown[view], key)
  return k, look(v)
end

VIEW = own({
  __index = function(view, key)
    return look(shown[view][key])
  end,
  __newindex = function()
    error("this table is read-only", 2)
  end,
  __len = function(view)
    return #shown[view]
  end,
  __pairs = function(view)
    return view_next, view, nil
  end,
}, "read-only")

K.look = look
K.shown = shown

-- Is this a table of the kernel's own that no handler may change?
function K.is_fixed(t)
  return rawequal(t, null) or shown[t] ~= nil
end

local base = K.base

function base.next(t, key)
  if shown[t] then
    return view_next(t, key)
  end
  return next(t, key)
end

function base.rawget(t, key)
  local inner = shown[t]
  if inner then
    return look(inner[key])
  end
  return rawget(t, key)
end

function base.rawlen(t)
  return rawlen(shown[t] or t)
end

function base.rawset(t, key, value)
  if K.is_fixed(t) then
    error("this table is read-only", 2)
  end
  return rawset(t, key, value)
end

local function marker(mark, name)
  return function(t)
    if t == nil then
      return set({}, mark)
    end
    local old = type(t) == "table" and get(t)
    if type(t) ~= "table" or (old and old ~= ARRAY and old ~= OBJECT) then
      error("bad argument #1 to 'json." .. name .. "' (a table without a metatable expected)", 2)
    end
    return set(t, mark)
  end
end

K.json = { null = null, array = marker(ARRAY, "array"), object = marker(OBJECT, "object") }
