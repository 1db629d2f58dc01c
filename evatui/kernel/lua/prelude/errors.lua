-- Errors of library functions, told as the stock ones tell them.
--
-- A stock function names the line of its caller and itself as that caller knows it. Here the caller is often
-- the prelude, which no handler knows. While the stack still stands, the handler's own call can be found.

local K = ...
local type, rawequal, getinfo, sub, match = type, rawequal, debug.getinfo, string.sub, string.match

local PRELUDE = "=[evatui]"
local PLACE = "[evatui]:"

-- Library functions by what they are, for those that C calls: no line knows them by another name.
local names = {}
K.function_names = names

local function argument_error(text, name, is_method)
  local index, said, why = match(text, "^bad argument #(%d+) to '(.-)' %((.*)%)$")
  if not index then
    return text
  elseif not is_method then
    return "bad argument #" .. index .. " to '" .. (name or said) .. "' (" .. why .. ")"
  elseif index == "1" then
    return "calling '" .. name .. "' on bad self (" .. why .. ")"
  end
  return "bad argument #" .. index - 1 .. " to '" .. name .. "' (" .. why .. ")"
end

-- Is it an error that a line of the prelude raised, and that nobody has been told about yet?
function K.is_untold(e)
  return type(e) == "string" and sub(e, 1, #PLACE) == PLACE
end

local last, last_told

-- What was told of `e` when it was raised: for what gets it once more, now that the stack is gone.
function K.retold(e)
  return last ~= nil and rawequal(e, last) and last_told or e
end

-- What a handler is told about the error `e`, if a line of the prelude raised it: of the running coroutine,
-- where this is the message handler, or of `co`, which died of it.
function K.told(e, co)
  if not K.is_untold(e) then
    return e
  end
  local function info(level, what)
    if co then
      return getinfo(co, level, what)
    end
    return getinfo(level + 3, what) -- this function and told() are two of them
  end
  local level, outermost = 0, nil
  local frame = info(level, "S")
  while frame and (frame.source == PRELUDE or (frame.what == "C" and not outermost)) do
    outermost = frame.source == PRELUDE and level or nil
    level = level + 1
    frame = info(level, "S")
  end
  local text = match(e, "^%[evatui%]:%d+: (.*)$") or e
  if not outermost then
    last, last_told = e, text
    return text
  end
  local called = info(outermost, "nft")
  text = argument_error(text, called.name or names[called.func], called.namewhat == "method")
  if frame and frame.what ~= "C" and not called.istailcall then
    text = frame.short_src .. ":" .. info(level, "l").currentline .. ": " .. text
  end
  last, last_told = e, text
  return text
end
