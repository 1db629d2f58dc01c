-- Pattern matching whose cost is known before it starts.
--
-- The stock matcher backtracks in C, where no hook fires. A pattern's worst case on a text is estimated;
-- what may be too dear is refused.

local K = ...
local type, error, byte, sub = type, error, string.byte, string.sub
local find, match, gmatch, gsub = string.find, string.match, string.gmatch, string.gsub
local alive = K.alive

local BUDGET = 2e7
local MAX_PATTERN = 512
local MAX_PLAIN = 2e8
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
  return n ^ (s.power + (s.anchored and 0 or 1)) * 2 ^ s.optional > BUDGET * (s.power == 0 and 100 or 1)
end

local function check(text, pattern, level)
  alive()
  if type(text) == "number" then
    text = K.tostring(text)
  end
  if type(text) ~= "string" or type(pattern) ~= "string" then
    return
  end
  if #pattern > MAX_PATTERN then
    error("the pattern is longer than " .. MAX_PATTERN .. " bytes", level)
  end
  if too_dear(text, pattern) then
    error("the pattern '" .. sub(pattern, 1, 40) .. "' may take too long on a text of " .. #text .. " bytes", level)
  end
end

local library = K.string

function library.find(text, pattern, init, plain)
  if plain then
    alive()
    if type(text) == "string" and type(pattern) == "string" and #text * #pattern > MAX_PLAIN then
      error("the search may take too long: " .. #pattern .. " bytes in " .. #text, 2)
    end
  else
    check(text, pattern, 3)
  end
  return find(text, pattern, init, plain)
end

function library.match(text, pattern, init)
  check(text, pattern, 3)
  return match(text, pattern, init)
end

function library.gmatch(text, pattern, init)
  check(text, pattern, 3)
  return gmatch(text, pattern, init)
end

function library.gsub(text, pattern, replacement, limit)
  check(text, pattern, 3)
  return gsub(text, pattern, replacement, limit)
end
