-- MessagePack from the host into Lua values. The bytes are the kernel's own: shape, depth and size
-- were checked before they were packed. What is most common is read without a call.

local K = ...
local byte, sub, unpack, set = string.byte, string.sub, string.unpack, setmetatable
local null, ARRAY, OBJECT = K.null, K.ARRAY, K.OBJECT

local data
local read

local function list(count, i)
  local t = set({}, ARRAY)
  for n = 1, count do
    local b = byte(data, i)
    if b < 0x80 then
      t[n], i = b, i + 1
    else
      t[n], i = read(i)
    end
  end
  return t, i
end

local function map(count, i)
  local t = {}
  for _ = 1, count do
    local key
    local b = byte(data, i)
    if b >= 0xa0 and b < 0xc0 then
      local last = i + (b & 31)
      key, i = sub(data, i + 1, last), last + 1
    else
      key, i = read(i)
    end
    t[key], i = read(i)
  end
  if count == 0 then
    set(t, OBJECT)
  end
  return t, i
end

local function number(code)
  return function(i)
    return unpack(code, data, i)
  end
end

local function counted(code, build)
  return function(i)
    return build(unpack(code, data, i))
  end
end

local function constant(value)
  return function(i)
    return value, i
  end
end

local LONG = {
  [0xc0] = constant(null),
  [0xc2] = constant(false),
  [0xc3] = constant(true),
  [0xc4] = number(">s1"),
  [0xc5] = number(">s2"),
  [0xc6] = number(">s4"),
  [0xcb] = number(">d"),
  [0xcc] = number("B"),
  [0xcd] = number(">I2"),
  [0xce] = number(">I4"),
  [0xcf] = number(">i8"),
  [0xd0] = number("b"),
  [0xd1] = number(">i2"),
  [0xd2] = number(">i4"),
  [0xd3] = number(">i8"),
  [0xd9] = number(">s1"),
  [0xda] = number(">s2"),
  [0xdb] = number(">s4"),
  [0xdc] = counted(">I2", list),
  [0xdd] = counted(">I4", list),
  [0xde] = counted(">I2", map),
  [0xdf] = counted(">I4", map),
}

function read(i)
  local b = byte(data, i)
  if b < 0x80 then
    return b, i + 1
  elseif b >= 0xe0 then
    return b - 256, i + 1
  elseif b >= 0xc0 then
    return LONG[b](i + 1)
  elseif b >= 0xa0 then
    local last = i + (b & 31)
    return sub(data, i + 1, last), last + 1
  elseif b >= 0x90 then
    return list(b & 15, i + 1)
  end
  return map(b & 15, i + 1)
end

function K.unpack(bytes)
  data = bytes
  local value = read(1)
  data = nil
  return value
end
