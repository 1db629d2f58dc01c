-- One program in one state: loading it, entering it, and what comes of that.
--
-- The host leaves bytes in the inbox, then calls run() with an operation's number. Both the bytes and the
-- answer are plain strings and numbers, so that entering and leaving allocate nothing outside of a
-- protected call.

local K = ...
local G = _G
local load, pcall, type, next, rawequal, rawget, error, tostring =
  load, pcall, type, next, rawequal, rawget, error, tostring
local create, resume, yield, status = coroutine.create, coroutine.resume, coroutine.yield, coroutine.status
local setmetatable, getinfo, byte, sub = setmetatable, debug.getinfo, string.byte, string.sub
local unpack = table.unpack
local MEMORY = K.MEMORY

-- Answers: the numbers are those of evatui.kernel.lua.state.Answer.
local RETURNED, ASKED, RAISED, NO_MEMORY, OVERSIZED, BAD_VALUE, MISSING, BROKEN = 1, 2, 3, 4, 5, 6, 7, 8
local REFUSED, RETURNED_ROW, ASKED_ROW = 9, 10, 11
local ENVELOPE = 64 -- bytes that {ok = true, result = ...} takes around a result
local MAX_ARGUMENT = 1 << 20
local MAX_MESSAGE = 2000
local NO_STACK = "too many results to unpack" -- what `unpack` says when it finds no memory for them

local DONE = {}

local env = K.env
local data, spec, exports, context, loading

local function compile(chunk)
  local source = chunk.source
  if sub(source, 1, 3) == "\xef\xbb\xbf" then
    source = sub(source, 4)
  end
  if byte(source, 1) == 35 then
    source = "--" .. source
  end
  return load(source, "@" .. chunk.name, "t", env)
end

local modules, underway = {}, {}

-- While a module runs its name is under way, also where it fails: then the next one to require it tries again.
local function under_way(name)
  underway[name] = true
  return setmetatable({}, {
    __close = function()
      underway[name] = nil
    end,
  })
end

local function require(name)
  local chunk = type(name) == "string" and spec.modules[name]
  if not chunk then
    error("module '" .. K.tostring(name) .. "' is not declared in the manifest (lua.modules)", 2)
  end
  if modules[name] ~= nil then
    return modules[name], chunk.name
  end
  if underway[name] then
    error("module '" .. name .. "' requires itself", 2)
  end
  local f, message = compile(chunk)
  if not f then
    error(message, 0)
  end
  local _ <close> = under_way(name)
  local value = f(name, chunk.name)
  if value == nil then
    value = true
  end
  modules[name] = value
  return value, chunk.name
end

-- The innermost frame of a dead coroutine that is in the program's own files.
local function place(co)
  for level = 0, 60 do
    local info = getinfo(co, level, "Sl")
    if not info then
      break
    end
    if byte(info.source) == 64 and info.currentline > 0 then
      return sub(info.source, 2), info.currentline
    end
  end
  return "", 0
end

local function raised(e, co)
  local file, line = place(co)
  local message, kind, retryable, packed = e, "", 0, ""
  if type(e) == "table" then
    local inner = K.shown(e) or e
    local said = rawget(inner, "message")
    message = type(said) == "string" and said or "a table was raised as an error"
    kind = type(rawget(inner, "kind")) == "string" and rawget(inner, "kind") or ""
    retryable = rawget(inner, "retryable") == true and 1 or 0
    local ok, bytes = pcall(K.pack, e, spec.max_output)
    packed = ok and K.as_text(bytes) or ""
  elseif type(e) == "number" then
    message = tostring(e)
  elseif type(e) ~= "string" then
    message = "a " .. type(e) .. " was raised as an error"
  end
  local told = K.told(message, co)
  if told ~= message and line > 0 and sub(told, 1, #file) ~= file then
    told = file .. ":" .. line .. ": " .. told
  end
  return RAISED, K.legible(sub(told, 1, MAX_MESSAGE)), K.legible(kind), retryable, file, line, packed
end

local step

local function find_entry(name)
  local f = exports and rawget(exports, name)
  if f == nil then
    f = rawget(env, name)
  end
  return type(f) == "function" and f or nil
end

local function loaded(value)
  loading = false
  exports = type(value) == "table" and value or nil
  for _, name in next, spec.entries do
    if not find_entry(name) then
      return MISSING, name
    end
  end
  return RETURNED, ""
end

-- What was last given out as a row. If a text in it is no UTF-8, the host cannot read it and asks again,
-- for what K.pack says.
local last_name, last_value

local function packed_result()
  return RETURNED, K.as_text(K.pack(last_value, spec.max_output + ENVELOPE))
end

local function packed_question()
  local name = last_name
  local ok, packed = pcall(K.pack, last_value, MAX_ARGUMENT)
  if ok then
    return ASKED, K.as_text(packed), name
  end
  if packed == MEMORY then
    error(MEMORY, 0)
  end
  local where, why = K.refused(packed)
  local message = why and "the argument of " .. name .. (where == "" and "" or " at " .. where) .. ": " .. why
    or "the argument of " .. name .. " is larger than " .. MAX_ARGUMENT .. " bytes"
  return step(false, K.failure("InvalidInput", message, false))
end

local function asked(name, argument)
  if loading then
    return step(true) -- print while loading: there is no call whose log it could go to
  end
  last_name, last_value = name, argument
  local n, row = K.flatten(ASKED_ROW, name, argument, MAX_ARGUMENT)
  if n then
    return unpack(row, 1, n)
  end
  return packed_question()
end

local function returned(value)
  last_name, last_value = nil, value
  local n, row = K.flatten(RETURNED_ROW, "", value, spec.max_output + ENVELOPE)
  if n then
    return unpack(row, 1, n)
  end
  return packed_result()
end

local function after(ok, first, ...)
  if rawequal(first, K.DEAD) or (not ok and first == MEMORY) then
    error(MEMORY, 0)
  end
  if not ok then
    return raised(first, K.task)
  end
  if rawequal(first, DONE) then
    return returned(...)
  end
  if status(K.task) == "suspended" then
    return asked(...)
  end
  return loaded(first)
end

function step(...)
  return after(resume(K.task, ...))
end

local request

local function take()
  local taken = request
  request = nil
  return taken
end

-- One coroutine serves call after call, until an error ends it. While it waits it holds no request.
local function serve(f)
  while true do
    f = yield(DONE, f(context, take()))
  end
end

local operations = {}

operations[1] = function() -- load
  spec = K.unpack_raw(data)
  K.limit_memory(spec.memory)
  context = K.context(spec.host)
  loading = true
  local f, message = compile(spec.script)
  if not f then
    return RAISED, K.legible(message), "", 0, spec.script.name, 0, ""
  end
  K.task = K.watch(create(f))
  return step()
end

operations[2] = function() -- enter: name, or name and request
  last_value = nil
  local name, after = K.unpack(data)
  request = nil
  if after <= #data then
    request = K.unpack(data, after, true)
  end
  local f = find_entry(name)
  if not f then
    return MISSING, name
  end
  if status(K.task) == "dead" then
    K.task = K.watch(create(serve))
  end
  return step(f)
end

operations[3] = function() -- go on: true and a value, or false and {kind, message, retryable}
  last_value = nil
  local ok, after = K.unpack(data)
  local value = K.unpack(data, after)
  if ok then
    return step(true, value)
  end
  return step(false, K.failure(value.kind, value.message, value.retryable))
end

operations[4] = function() -- again: what could not be read
  return (last_name and packed_question or packed_result)()
end

-- Here the host leaves bytes: in a table, since a function that is called lets go of the GIL.
local inbox = { false }
K.inbox = inbox

local function answer(ok, first, ...)
  data = nil
  if ok then
    return first, ...
  end
  if first == MEMORY or (type(first) == "string" and sub(first, -#NO_STACK) == NO_STACK) then
    return NO_MEMORY
  end
  if first == K.TOO_LARGE then
    return OVERSIZED
  end
  if first == K.REFUSED then
    return REFUSED
  end
  local where, why = K.refused(first)
  if where then
    return BAD_VALUE, K.legible(where), why
  end
  return BROKEN, type(first) == "string" and first or type(first)
end

function K.run(operation)
  data, inbox[1] = inbox[1], false
  return answer(pcall(operations[operation]))
end

env.require = require
G.string.dump = nil
for name in next, G do
  G[name] = nil
end
-- lupa asks for this name outside of a protected call; a name that is there allocates nothing
G.debug = false
