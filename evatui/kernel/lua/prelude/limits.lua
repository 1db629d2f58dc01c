-- Verdicts: what ends a call that no handler may catch.
--
-- The host ends a call by lowering the memory limit of the state to one byte, from another thread.
-- From then on every allocation fails with Lua's own text below, and so does the count hook, which
-- allocates. What could catch an error asks is_verdict() first, and if so leaves for good: it yields DEAD
-- up to the kernel, which never resumes it. Raising it again instead would unwind every pcall on the stack,
-- and each of them costs as much as the stack is deep.
--
-- What takes long in C without allocating is only bounded by the number of instructions between two
-- hooks, and how long it takes grows with the values that there are: so a large heap is hooked more often.

local K = ...
local told = K.told
local xpcall, error, select, type = xpcall, error, select, type
local yield, isyieldable = coroutine.yield, coroutine.isyieldable
local sethook, gethook, collectgarbage = debug.sethook, debug.gethook, collectgarbage

local MEMORY = "not enough memory"
local DEAD = {}
local dead = false

K.MEMORY, K.DEAD = MEMORY, DEAD

-- Fails once the call has ended: for what is about to take long in C.
local function alive()
  return {}
end

K.alive = alive

-- The kilobytes that may be held, and those at which it is worth a collection to find out whether they are.
-- The host's own limit is higher still: a program that fills its memory would otherwise spend seconds in
-- collections that find less and less.
local most, suspicious = math.huge, math.huge

function K.limit_memory(bytes)
  local base = collectgarbage("count")
  most, suspicious = base + bytes / 1024, base + bytes * 17 / 16384
end

-- What a call leaves behind is seldom much. With more of it between two collections, less time goes into them.
collectgarbage("setpause", 200)

local function too_much()
  collectgarbage()
  return collectgarbage("count") > most
end

local beat

-- Instructions between two hooks.
local function interval(kilobytes)
  return kilobytes < 1024 and 500 or kilobytes < 4096 and 250 or kilobytes < 16384 and 100 or 50
end

function beat()
  if dead then
    error(MEMORY, 0)
  end
  local _ = {} -- not by a call: where the C stack is full, a call would fail before the allocation
  local kilobytes = collectgarbage("count")
  if kilobytes > suspicious and too_much() then
    error(MEMORY, 0)
  end
  local wanted, _, _, count = interval(kilobytes), gethook()
  if wanted ~= count then
    sethook(beat, "", wanted)
  end
end

-- Hooks belong to one coroutine each: whoever makes a coroutine for a handler calls this.
function K.watch(co)
  sethook(co, beat, "", interval(collectgarbage("count")))
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

local function leave()
  if isyieldable() then
    yield(DEAD)
  end
  error(MEMORY, 0)
end

K.leave = leave

local function settle(ok, ...)
  if ok then
    return true, ...
  end
  local e = ...
  if is_verdict(e) then
    leave()
  end
  return false, told(e)
end

K.settle = settle

-- `told` as the message handler: it runs before the stack is unwound. Nothing of a handler's runs in it.
local function guarded(f, ...)
  return settle(xpcall(f, told, ...))
end

-- The handler of a real xpcall runs inside the failing hook, where no hook fires: here it runs
-- after the stack is unwound, as ordinary code.
local function handled(handler, ok, ...)
  if ok then
    return true, ...
  end
  local e = ...
  if is_verdict(e) then
    leave()
  end
  local _, answer = guarded(handler, e)
  return false, answer
end

K.next = next

K.base = {
  pcall = function(...)
    if select("#", ...) == 0 then
      error("bad argument #1 to 'pcall' (value expected)", 2)
    end
    return guarded(...)
  end,
  xpcall = function(f, handler, ...)
    if type(handler) ~= "function" then
      error("bad argument #2 to 'xpcall' (function expected, got " .. type(handler) .. ")", 2)
    end
    return handled(handler, xpcall(f, told, ...))
  end,
  error = error,
  select = select,
}
