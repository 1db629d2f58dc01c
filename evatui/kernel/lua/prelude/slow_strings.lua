-- string.find, match, gmatch and gsub on the matcher in Lua.

local K = ...
local byte, find, sub = string.byte, string.find, string.sub
local error, type, unpack, concat = error, type, table.unpack, table.concat
local tostring, matcher = K.tostring, K.matcher

local function first_position(text, init)
  if init == nil or init == 0 then
    return 1
  elseif init < 0 then
    return init < -#text and 1 or #text + init + 1
  end
  return init
end

-- Where the first match is: its start, its end (exclusive) and how to get its captures.
local function search(text, pattern, init)
  local at = first_position(text, init)
  local anchored = sub(pattern, 1, 1) == "^"
  local try, captures = matcher(text, pattern, anchored and 2 or 1)
  while at <= #text + 1 do
    local stop = try(at)
    if stop then
      return at, stop, captures
    end
    if anchored then
      break
    end
    at = at + 1
  end
end

local slow = {}
K.slow = slow

function slow.find(text, pattern, init)
  local at, stop, captures = search(text, pattern, init)
  if at then
    return at, stop - 1, unpack(captures(at, stop))
  end
  return nil
end

function slow.match(text, pattern, init)
  local at, stop, captures = search(text, pattern, init)
  if at then
    return unpack(captures(at, stop, true))
  end
  return nil
end

function slow.gmatch(text, pattern, init)
  local try, captures = matcher(text, pattern, 1)
  local at, previous = first_position(text, init), nil
  return function()
    while at <= #text + 1 do
      local start, stop = at, try(at)
      if stop and stop ~= previous then
        at, previous = stop, stop
        return unpack(captures(start, stop, true))
      end
      at = at + 1
    end
  end
end

-- The pieces of a replacement text: strings as they are, numbers for captures.
local function template(text)
  local pieces, i = {}, 1
  while i <= #text do
    local percent = find(text, "%", i, true) or #text + 1
    if percent > i then
      pieces[#pieces + 1] = sub(text, i, percent - 1)
    end
    local letter = sub(text, percent + 1, percent + 1)
    if letter == "%" then
      pieces[#pieces + 1] = "%"
    elseif find(letter, "^%d$") then
      pieces[#pieces + 1] = byte(letter) - 48
    elseif percent <= #text then
      error("invalid use of '%' in replacement string")
    end
    i = percent + 2
  end
  return pieces
end

-- What makes the replacement of one match out of its captures.
local function replacer(replacement, text, captures, capture)
  local kind = type(replacement)
  if kind == "string" or kind == "number" then
    local pieces
    return function(at, stop)
      pieces = pieces or template(tostring(replacement))
      local filled = {}
      for i = 1, #pieces do
        local piece = pieces[i]
        if piece == 0 then
          piece = sub(text, at, stop - 1)
        elseif type(piece) == "number" then
          piece = tostring(capture(piece, at, stop))
        end
        filled[i] = piece
      end
      return concat(filled)
    end
  elseif kind == "table" then
    return function(at, stop)
      return replacement[capture(1, at, stop)]
    end
  elseif kind == "function" then
    return function(at, stop)
      return (replacement(unpack(captures(at, stop, true))))
    end
  end
  error("bad argument #3 to 'gsub' (string/function/table expected, got " .. kind .. ")")
end

function slow.gsub(text, pattern, replacement, limit)
  local anchored = sub(pattern, 1, 1) == "^"
  local try, captures, capture = matcher(text, pattern, anchored and 2 or 1)
  local replaced = replacer(replacement, text, captures, capture)
  local parts, at, count, previous = {}, 1, 0, nil
  limit = limit or #text + 1
  while count < limit do
    local stop = try(at)
    if stop and stop ~= previous then
      count = count + 1
      local value = replaced(at, stop)
      if not value then
        value = sub(text, at, stop - 1)
      elseif type(value) ~= "string" and type(value) ~= "number" then
        error("invalid replacement value (a " .. type(value) .. ")")
      end
      parts[#parts + 1] = value
      at, previous = stop, stop
    elseif at <= #text then
      parts[#parts + 1] = sub(text, at, at)
      at = at + 1
    else
      break
    end
    if anchored then
      break
    end
  end
  parts[#parts + 1] = sub(text, at)
  return concat(parts), count
end

-- A plain search in windows, so that each call into C is short.
function slow.plain(text, wanted, init, most)
  local width = most // #wanted + 1
  for at = first_position(text, init), #text - #wanted + 1, width do
    local found = find(sub(text, at, at + width + #wanted - 2), wanted, 1, true)
    if found then
      return at + found - 1, at + found + #wanted - 2
    end
  end
  return nil
end
