-- Lua's patterns, matched by Lua: slower than the stock matcher, but a verdict can end it at any time.

local K = ...
local byte, sub, error = string.byte, string.sub, error
local pattern_items = K.pattern_items

local MAX_CAPTURES = 32
local NOT_CLOSED, IS_POSITION = -1, -2
local ITEMS = K.ITEMS
local ONE, OPEN, CLOSE, POSITION = ITEMS.ONE, ITEMS.OPEN, ITEMS.CLOSE, ITEMS.POSITION
local BALANCE, BACK, END = ITEMS.BALANCE, ITEMS.BACK, ITEMS.END

-- For `pattern`, read from position `from`, in `text`: try(at), which returns where a match that starts
-- there ends, and two functions for the captures that it left. match(i, at) tries the items from i on;
-- it recurses once an item, never once a byte.
function K.matcher(text, pattern, from)
  local items = pattern_items(pattern, from)
  local starts, lengths, level = {}, {}, 0
  local last = #text
  local match

  local function run_length(set, at)
    local n = 0
    while set[byte(text, at + n)] do
      n = n + 1
    end
    return n
  end

  local function one(item, i, at)
    local set, repeats = item.set, item.repeats
    if repeats == "*" or repeats == "+" then
      for n = run_length(set, at), repeats == "+" and 1 or 0, -1 do
        local stop = match(i + 1, at + n)
        if stop then
          return stop
        end
      end
      return nil
    elseif repeats == "-" then
      while true do
        local stop = match(i + 1, at)
        if stop then
          return stop
        end
        if not set[byte(text, at)] then
          return nil
        end
        at = at + 1
      end
    elseif repeats == "?" then
      return set[byte(text, at)] and match(i + 1, at + 1) or match(i + 1, at)
    end
    return set[byte(text, at)] and match(i + 1, at + 1) or nil
  end

  local function open(i, at, length)
    if level >= MAX_CAPTURES then
      error("too many captures")
    end
    level = level + 1
    starts[level], lengths[level] = at, length
    local stop = match(i + 1, at)
    if not stop then
      level = level - 1
    end
    return stop
  end

  local function close(i, at)
    local index = level
    while index > 0 and lengths[index] ~= NOT_CLOSED do
      index = index - 1
    end
    if index == 0 then
      error("invalid pattern capture")
    end
    lengths[index] = at - starts[index]
    local stop = match(i + 1, at)
    if not stop then
      lengths[index] = NOT_CLOSED
    end
    return stop
  end

  local function balance(item, i, at)
    if byte(text, at) ~= item.open then
      return nil
    end
    local depth = 1
    for here = at + 1, last do
      local c = byte(text, here)
      if c == item.close then
        depth = depth - 1
        if depth == 0 then
          return match(i + 1, here + 1)
        end
      elseif c == item.open then
        depth = depth + 1
      end
    end
    return nil
  end

  local function back(item, i, at)
    local index = item.index
    if index < 1 or index > level or lengths[index] == NOT_CLOSED then
      error("invalid capture index %" .. index)
    end
    local length = lengths[index]
    if length < 0 or sub(text, starts[index], starts[index] + length - 1) ~= sub(text, at, at + length - 1) then
      return nil
    end
    return match(i + 1, at + length)
  end

  function match(i, at)
    local item = items[i]
    if not item then
      return at
    end
    local kind = item.kind
    if kind == ONE then
      return one(item, i, at)
    elseif kind == OPEN then
      return open(i, at, NOT_CLOSED)
    elseif kind == POSITION then
      return open(i, at, IS_POSITION)
    elseif kind == CLOSE then
      return close(i, at)
    elseif kind == END then
      return at == last + 1 and at or nil
    elseif kind == BALANCE then
      return balance(item, i, at)
    elseif kind == BACK then
      return back(item, i, at)
    end
    local set = item.set
    if set[byte(text, at - 1) or 0] or not set[byte(text, at) or 0] then
      return nil
    end
    return match(i + 1, at)
  end

  local function capture(index, at, stop)
    if index > level then
      if index > 1 then
        error("invalid capture index %" .. index)
      end
      return sub(text, at, stop - 1)
    end
    local length = lengths[index]
    if length == NOT_CLOSED then
      error("unfinished capture")
    end
    return length == IS_POSITION and starts[index] or sub(text, starts[index], starts[index] + length - 1)
  end

  -- All captures; with `whole`, the match itself where there are none.
  local function captures(at, stop, whole)
    local values = {}
    for index = 1, level == 0 and whole and 1 or level do
      values[index] = capture(index, at, stop)
    end
    return values
  end

  return function(at)
    level = 0
    return match(1, at)
  end, captures, capture
end
