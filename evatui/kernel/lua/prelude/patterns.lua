-- Pattern matching that never runs long where no hook fires.
--
-- The stock matcher backtracks in C. A pattern's worst case on a text is estimated first, and what may be
-- too dear for C goes to the matcher in Lua.

local K = ...
local type, byte, tostring = type, string.byte, K.tostring
local find, match, gmatch, gsub = string.find, string.match, string.gmatch, string.gsub
local alive, slow, is_deep, select = K.alive, K.slow, K.is_deep, select

local BUDGET = 1e7
local PLAIN_BUDGET = 200000000
local PERCENT, CARET, OPEN, CLOSE, LEFT, RIGHT = byte("%^[]()", 1, 6)
local REPEATS = { [byte("*")] = true, [byte("+")] = true, [byte("-")] = true }
local OPTIONAL = byte("?")
local SEARCHES = { [byte("b")] = true, [byte("f")] = true }

-- One character class of a set: where it ends.
local function set_end(pattern, i)
  i = i + 1
  if byte(pattern, i) == CARET then
    i = i + 1
  end
  repeat
    if byte(pattern, i) == PERCENT then
      i = i + 1
    end
    i = i + 1
    local c = byte(pattern, i)
  until c == CLOSE or not c
  return i
end

-- How a pattern multiplies work: `power` repeats that can be taken back, `optional` items, and whether
-- it is tried at every position. A repeat at the very end is never taken back.
local function shape(pattern)
  local anchored = byte(pattern, 1) == CARET
  local i, power, optional, trailing = anchored and 2 or 1, 0, 0, false
  while i <= #pattern do
    local c = byte(pattern, i)
    if c == PERCENT then
      i = i + 1
      c = byte(pattern, i)
      if c and (SEARCHES[c] or (c >= 48 and c <= 57)) then
        power = power + 1
      end
      trailing = false
    elseif c == OPEN then
      i = set_end(pattern, i)
      trailing = false
    elseif REPEATS[c] then
      power = power + 1
      trailing = true
    elseif c == OPTIONAL then
      optional = optional + 1
    elseif c ~= LEFT and c ~= RIGHT then
      trailing = false
    end
    i = i + 1
  end
  return { power = power - (trailing and 1 or 0), optional = optional, anchored = anchored }
end

local shapes, known = {}, 0

local function shape_of(pattern)
  local found = shapes[pattern]
  if not found then
    if known >= 256 then
      shapes, known = {}, 0
    end
    found = shape(pattern)
    shapes[pattern], known = found, known + 1
  end
  return found
end

local function too_dear(text, pattern)
  local n, s = #text + 1, shape_of(pattern)
  if s.power == 0 and s.optional == 0 then
    return n * #pattern > PLAIN_BUDGET
  end
  -- each attempt may go through all of the pattern, and to look into one of its sets is to read it
  return n ^ (s.power + (s.anchored and 0 or 1)) * 2 ^ s.optional * (1 + #pattern // 8) > BUDGET
end

-- What was handed over. A call around which this stands is no tail call: errors in it find their caller.
local function all(...)
  return ...
end

-- The stock function, or the one in Lua where the stock one might take too long. Wrong arguments are
-- for the stock one to name.
local function slow_wanted(text, pattern)
  alive()
  local kind = type(text)
  return type(pattern) == "string"
    and (kind == "string" or kind == "number")
    and too_dear(kind == "number" and tostring(text) or text, pattern)
end

local function chosen(stock, other)
  return function(text, pattern, ...)
    if slow_wanted(text, pattern) then
      return all(other(tostring(text), pattern, ...))
    end
    return stock(text, pattern, ...)
  end
end

local library = K.string

function library.find(text, pattern, init, plain)
  if not plain then
    if slow_wanted(text, pattern) then
      return all(slow.find(tostring(text), pattern, init))
    end
    return find(text, pattern, init)
  end
  alive()
  if type(text) == "string" and type(pattern) == "string" and #text * #pattern > PLAIN_BUDGET then
    return slow.plain(text, pattern, init, PLAIN_BUDGET)
  end
  return find(text, pattern, init, plain)
end

library.match = chosen(match, slow.match)
library.gmatch = chosen(gmatch, slow.gmatch)

local substituted = chosen(gsub, slow.gsub)

local function looked_up(t)
  return function(key)
    return t[key]
  end
end

function library.gsub(text, pattern, ...)
  local replacement = ...
  if is_deep(replacement) then
    return all(substituted(text, pattern, looked_up(replacement), select(2, ...)))
  end
  return all(substituted(text, pattern, ...))
end
