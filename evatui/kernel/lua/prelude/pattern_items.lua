-- Lua's patterns as lists of items, for the matcher in Lua.

local K = ...
local byte, char, find, sub = string.byte, string.char, string.find, string.sub
local error = error

local ONE, OPEN, CLOSE, POSITION, BALANCE, FRONTIER, BACK, END = 1, 2, 3, 4, 5, 6, 7, 8
K.ITEMS = { ONE = ONE, OPEN = OPEN, CLOSE = CLOSE, POSITION = POSITION, BALANCE = BALANCE, BACK = BACK, END = END }

local CLASSES = "acdglpsuwxACDGLPSUWX"

-- Sets are tables from byte to true.
local function class_set(letter)
  local set = {}
  if find(CLASSES, letter, 1, true) then
    for c = 0, 255 do
      set[c] = find(char(c), "%" .. letter) and true or nil
    end
  else
    set[byte(letter)] = true
  end
  return set
end

local classes = {}

local function class(letter)
  local set = classes[letter]
  if not set then
    set = class_set(letter)
    classes[letter] = set
  end
  return set
end

local function any_set()
  local set = {}
  for c = 0, 255 do
    set[c] = true
  end
  return set
end

local ANY = any_set()

local function inverted(set)
  local other = {}
  for c = 0, 255 do
    other[c] = not set[c] or nil
  end
  return other
end

-- The set that starts after the '[' before `i`, and where the pattern goes on.
local function read_set(pattern, i)
  local set, negated = {}, sub(pattern, i, i) == "^"
  i = negated and i + 1 or i
  local first = true
  while first or sub(pattern, i, i) ~= "]" do
    first = false
    local letter = sub(pattern, i, i)
    if letter == "" then
      error("malformed pattern (missing ']')")
    elseif letter == "%" then
      local escaped = sub(pattern, i + 1, i + 1)
      if escaped == "" then
        error("malformed pattern (missing ']')")
      end
      for c in K.next, class(escaped) do
        set[c] = true
      end
      i = i + 2
    elseif sub(pattern, i + 1, i + 1) == "-" and not find(sub(pattern, i + 2, i + 2), "^%]?$") then
      for c = byte(letter), byte(pattern, i + 2) do
        set[c] = true
      end
      i = i + 3
    else
      set[byte(letter)] = true
      i = i + 1
    end
  end
  return negated and inverted(set) or set, i + 1
end

local function read_escape(pattern, i)
  local letter = sub(pattern, i, i)
  if letter == "" then
    error("malformed pattern (ends with '%')")
  elseif letter == "b" then
    local open, close = byte(pattern, i + 1, i + 2)
    if not close then
      error("malformed pattern (missing arguments to '%b')")
    end
    return { kind = BALANCE, open = open, close = close }, i + 3
  elseif letter == "f" then
    if sub(pattern, i + 1, i + 1) ~= "[" then
      error("missing '[' after '%f' in pattern")
    end
    local set, following = read_set(pattern, i + 2)
    return { kind = FRONTIER, set = set }, following
  elseif find(letter, "%d") then
    return { kind = BACK, index = byte(letter) - 48 }, i + 1
  end
  return { kind = ONE, set = class(letter) }, i + 1
end

local function read_item(pattern, i)
  local letter = sub(pattern, i, i)
  if letter == "(" then
    if sub(pattern, i + 1, i + 1) == ")" then
      return { kind = POSITION }, i + 2
    end
    return { kind = OPEN }, i + 1
  elseif letter == ")" then
    return { kind = CLOSE }, i + 1
  elseif letter == "$" and i == #pattern then
    return { kind = END }, i + 1
  elseif letter == "%" then
    return read_escape(pattern, i + 1)
  elseif letter == "[" then
    local set, following = read_set(pattern, i + 1)
    return { kind = ONE, set = set }, following
  elseif letter == "." then
    return { kind = ONE, set = ANY }, i + 1
  end
  return { kind = ONE, set = { [byte(letter)] = true } }, i + 1
end

-- The items of `pattern` from position `i` on.
function K.pattern_items(pattern, i)
  local items = {}
  while i <= #pattern do
    local item
    item, i = read_item(pattern, i)
    local repeats = item.kind == ONE and sub(pattern, i, i)
    if repeats and repeats ~= "" and find("*+-?", repeats, 1, true) then
      item.repeats = repeats
      i = i + 1
    end
    items[#items + 1] = item
  end
  return items
end
