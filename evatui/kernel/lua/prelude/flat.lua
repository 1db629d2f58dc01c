-- Lua values out to the host as a row of plain values, which need no text between here and there.
--
-- The row is written level by level: what a table holds, then two integers, the place in the row where the
-- table itself belongs and its code, 4 * its size + its kind. Read from the end, each table is complete
-- before it is put into the one around it. Whatever is not ordinary here (a metatable, a hole, a number that
-- is not finite, a size near the limit) is left to K.pack, which is slower and knows the reason why not.
--
-- Only raw access, and each table allocates, as in K.pack.

local K = ...
local type, next, pcall, rawequal, get = type, next, pcall, rawequal, debug.getmetatable
local char, sub, gsub, concat = string.char, string.sub, string.gsub, table.concat
local utf8_len, utf8_char = utf8.len, utf8.char
local null, ARRAY, OBJECT, refuse = K.null, K.ARRAY, K.OBJECT, K.refuse

local MAX_DEPTH = 64
local MAX_VALUES = 100000
local LIST, MAP, EMPTY, ALONE = 0, 1, 2, 3
-- More than MessagePack takes for a number and the header of a text.
local EACH = 9

-- A row of a value that is no table.
local function alone(answer, name, value, most)
  local kind = type(value)
  if kind == "string" and #value + EACH > most then
    return
  end
  if kind == "number" and value - value == 0 or kind == "string" or kind == "boolean" or kind == "nil" then
    return 5, { answer, name, value, 0, 4 + ALONE }
  elseif rawequal(value, null) then
    return 5, { answer, name, nil, 0, 4 + ALONE }
  end
end

-- Tables that serve again and again: to grow new ones costs more than to fill them.
local row, queue, places = {}, {}, {}
local KEPT, MAX_KEPT = 64, 4096
local FEW = 16

-- Does `t`, which has the positions 1 to `count`, have nothing else?
--
-- Positions may lie among the names, and then names before the last of them. `next` takes a position that has no
-- value only where there is room for it apart from the names, or where it once had one among them. So if it takes
-- the one after the last, and that up to which the room for it would go, it is enough to look at the powers of two,
-- where less room would end.
local function is_list(t, first, count)
  if first ~= 1 or next(t, count) ~= nil then
    return false
  end
  local doubled = false
  if count > FEW then
    local room = 2 * FEW
    while room <= count do
      room = 2 * room
    end
    doubled = t[room] == nil and pcall(next, t, room) and pcall(next, t, count + 1)
  end
  local at = 1
  while at < count do
    if next(t, at) ~= at + 1 then
      return false
    end
    at = doubled and 2 * at or at + 1
  end
  return true
end

-- How many values the row has, how many tables it is of, and the bytes of its texts: or nothing.
local function fill(root, most)
  local row, queue, places = row, queue, places
  local n, last, level_end, depth, size = 2, 1, 1, 1, 0
  queue[1], places[1] = root, 0
  local at = 0
  while at < last do
    at = at + 1
    if at > level_end then
      level_end, depth = last, depth + 1
      if depth > MAX_DEPTH then
        return
      end
    end
    local t = queue[at]
    local _ = {} -- fails once the call has ended: to find the first key of a table may take long
    local mark = get(t)
    if mark and rawequal(mark.__newindex, refuse) then
      t = mark.__index
      mark = get(t)
    end
    if mark and not rawequal(mark, ARRAY) and not rawequal(mark, OBJECT) then
      return
    end
    local code
    local first = next(t)
    if first == nil then
      code = mark and (rawequal(mark, ARRAY) and LIST or MAP) or EMPTY
    elseif type(first) == "string" then
      local before = n
      for key, value in next, t do
        local kind = type(value)
        if kind == "string" then
          size = size + #value
        elseif kind == "number" then
          if value - value ~= 0 then
            return
          end
        elseif kind == "table" then
          if rawequal(value, null) then
            value = nil
          else
            last = last + 1
            queue[last], places[last] = value, n + 1
            value = false
          end
        elseif kind ~= "boolean" then
          return
        end
        if type(key) ~= "string" then
          return
        end
        size = size + #key
        row[n + 1], row[n + 2] = key, value
        n = n + 2
      end
      code = 4 * (n - before) + MAP
    else
      local count = #t
      if count > MAX_VALUES then
        return
      end
      for i = 1, count do
        local value = t[i]
        local kind = type(value)
        if kind == "number" then
          if value - value ~= 0 then
            return
          end
        elseif kind == "string" then
          size = size + #value
        elseif kind == "table" then
          if rawequal(value, null) then
            value = nil
          else
            last = last + 1
            queue[last], places[last] = value, n
            value = false
          end
        elseif kind ~= "boolean" then
          return
        end
        n = n + 1
        row[n] = value
      end
      if count == 0 or not is_list(t, first, count) then
        return
      end
      code = 4 * count + LIST
    end
    row[n + 1], row[n + 2] = places[at], code
    n = n + 2
    if n > MAX_VALUES or size + EACH * n > most then
      return
    end
  end
  return n, last, size
end

-- How many values the row has, and the row, which begins with `answer` and `name`: or nothing. The row is to be
-- read before the next one is asked for.
function K.flatten(answer, name, root, most)
  if type(root) ~= "table" or rawequal(root, null) then
    return alone(answer, name, root, most)
  end
  local n, last, size = fill(root, most)
  local filled = row
  filled[1], filled[2] = answer, name
  if not n or last > KEPT then
    queue, places = {}, {}
  else
    for i = 1, last do
      queue[i] = nil -- or what the handler lets go of would stay
    end
  end
  if not n or size + n > MAX_KEPT then
    row = {}
  end
  return n, filled
end

-- Text that the host can read: each byte that is not UTF-8 becomes U+FFFD.
function K.legible(text)
  local pieces, from = {}, 1
  while true do
    local length, bad = utf8_len(text, from)
    if length then
      pieces[#pieces + 1] = sub(text, from)
      return concat(pieces)
    end
    pieces[#pieces + 1] = sub(text, from, bad - 1) .. "\u{FFFD}"
    from = bad + 1
  end
end

-- Any bytes as text of the characters 0 to 255, for the host that takes nothing but text.
local WIDE = {}
for n = 128, 255 do
  WIDE[char(n)] = utf8_char(n)
end

function K.as_text(bytes)
  return (gsub(bytes, "[\x80-\xff]", WIDE))
end
