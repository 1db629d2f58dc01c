-- Values that stock Lua lacks: null, tables marked as array or object, and read-only views.

local K = ...
local set, get, next, type, error, rawequal = setmetatable, debug.getmetatable, next, type, error, rawequal
local rawget, rawset, rawlen = rawget, rawset, rawlen
local own, refuse = K.own, K.refuse

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

-- A view is an empty table: what it shows is in its metatable, so that no raw access gets past it, and
-- reading it takes no call. The tables in what it shows are views themselves.
local function shown(t)
  local metatable = get(t)
  if metatable and rawequal(metatable.__newindex, refuse) then
    return metatable.__index
  end
end

local function view_length(view)
  return #shown(view)
end

-- Not the table itself: a handler gets the state of the loop.
local function view_pairs(view)
  local inner = shown(view)
  return function(_, key)
    return next(inner, key)
  end, view, nil
end

K.view_length, K.view_pairs = view_length, view_pairs

function K.view(t)
  return set({}, { __index = t, __newindex = refuse, __len = view_length, __pairs = view_pairs })
end

K.shown = shown

-- Is this a table of the kernel's own that no handler may change?
function K.is_fixed(t)
  return rawequal(t, null) or shown(t) ~= nil
end

local base = K.base

function base.next(t, key)
  return next(shown(t) or t, key)
end

function base.rawget(t, key)
  return rawget(shown(t) or t, key)
end

function base.rawlen(t)
  return rawlen(shown(t) or t)
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
