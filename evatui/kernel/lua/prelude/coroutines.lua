-- The coroutine library, and the way of a host call through it.
--
-- A host call is a yield whose first value is HOST. Every resume below passes such a yield on to its
-- own caller, up to the kernel, and the reply back down; a handler's own yields never look like one.

local K = ...
local create, resume, yield, close = coroutine.create, coroutine.resume, coroutine.yield, coroutine.close
local running, status, isyieldable = coroutine.running, coroutine.status, coroutine.isyieldable
local error, rawequal, type = error, rawequal, type
local watch, settle, is_verdict, leave = K.watch, K.settle, K.is_verdict, K.leave
local DEAD = K.DEAD

local HOST = {}

K.HOST = HOST
K.task = nil -- the coroutine that the entry runs in: to a handler it is the main thread

local function refusal(_, name)
  return K.failure(
    "HostError",
    name .. " cannot be called here: a table.sort comparison, a string.gsub callback or a closing variable cannot wait",
    false
  )
end

-- Asks the kernel for `name` with one argument; returns its answer or raises its error table.
function K.ask(name, argument)
  if not isyieldable() then
    error(refusal(HOST, name), 0)
  end
  local ok, value = yield(HOST, name, argument)
  if ok then
    return value
  end
  error(value, 0)
end

local function pass(co, ok, ...)
  local first = ...
  if ok then
    if rawequal(first, HOST) then
      if not isyieldable() then
        return pass(co, resume(co, false, refusal(...)))
      end
      return pass(co, resume(co, yield(...)))
    end
    if rawequal(first, DEAD) then
      leave()
    end
    return true, ...
  end
  if is_verdict(first) then
    leave()
  end
  return false, K.told(first, co)
end

local function expect_function(f, name)
  if type(f) ~= "function" then
    error("bad argument #1 to '" .. name .. "' (function expected, got " .. type(f) .. ")", 3)
  end
end

local function expect_coroutine(co, name)
  if type(co) ~= "thread" then
    error("bad argument #1 to '" .. name .. "' (thread expected, got " .. type(co) .. ")", 3)
  end
end

local function unwrap(co, ok, ...)
  if ok then
    return ...
  end
  local first = ...
  if status(co) == "dead" then
    local closed, e = close(co)
    if not closed then
      if is_verdict(e) then
        leave()
      end
      first = K.is_untold(e) and first or e -- `first` is what was told of it
    end
  end
  -- level 2 is whoever called the wrapped function, as in stock Lua
  error(first, type(first) == "string" and 2 or 0)
end

local function closed(ok, ...)
  if ok then
    return true
  end
  return false, ...
end

K.coroutine = {
  create = function(f)
    expect_function(f, "create")
    return watch(create(f))
  end,
  resume = function(co, ...)
    expect_coroutine(co, "resume")
    return pass(co, resume(co, ...))
  end,
  wrap = function(f)
    expect_function(f, "wrap")
    local co = watch(create(f))
    return function(...)
      return unwrap(co, pass(co, resume(co, ...)))
    end
  end,
  yield = function(...)
    if running() == K.task then
      error("attempt to yield from outside a coroutine", 0)
    end
    return yield(...)
  end,
  close = function(co)
    expect_coroutine(co, "close")
    return closed(settle(close(co)))
  end,
  running = function()
    local co = running()
    return co, co == K.task
  end,
  isyieldable = function(co)
    if co ~= nil then
      expect_coroutine(co, "isyieldable")
      return co ~= K.task and isyieldable(co)
    end
    return running() ~= K.task and isyieldable()
  end,
  status = status,
}
