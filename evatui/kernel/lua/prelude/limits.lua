-- Verdicts: what ends a call that no handler may catch.
--
-- The host ends a call by lowering the memory limit of the state to one byte, from another thread.
-- From then on every allocation fails with Lua's own text below, and so does the count hook, which
-- allocates. Everything that could catch an error passes that text on.

local K = ...
local pcall, error, select, type = pcall, error, select, type
local sethook = debug.sethook

local MEMORY = "not enough memory"
local INSTRUCTIONS = 1000
local dead = false

K.MEMORY = MEMORY

local function allocate()
  return {}
end

local function beat()
  if dead or not pcall(allocate) then
    dead = true
    error(MEMORY, 0)
  end
end

-- Hooks belong to one coroutine each: whoever makes a coroutine for a handler calls this.
function K.watch(co)
  sethook(co, beat, "", INSTRUCTIONS)
  return co
end

-- Is this a verdict? Says so for good: what runs after the first one must not allocate again,
-- since each failed allocation costs a full collection.
local function is_verdict(e)
  if e == MEMORY then
    dead = true
  end
  return dead
end

function K.is_dead()
  return dead
end

K.is_verdict = is_verdict

local function settle(ok, e, ...)
  if not ok and is_verdict(e) then
    error(MEMORY, 0)
  end
  return ok, e, ...
end

K.settle = settle

local function guarded(...)
  return settle(pcall(...))
end

-- The handler of a real xpcall runs inside the failing hook, where no hook fires: here it runs
-- after the stack is unwound, as ordinary code.
local function handled(handler, ok, ...)
  if ok then
    return true, ...
  end
  local e = ...
  if is_verdict(e) then
    error(MEMORY, 0)
  end
  local _, answer = guarded(handler, e)
  return false, answer
end

K.next = next

K.base = {
  pcall = guarded,
  xpcall = function(f, handler, ...)
    if type(handler) ~= "function" then
      error("bad argument #2 to 'xpcall' (function expected, got " .. type(handler) .. ")", 2)
    end
    return handled(handler, pcall(f, ...))
  end,
  error = error,
  select = select,
}
