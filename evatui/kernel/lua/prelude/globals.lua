-- The globals of a handler.

local K = ...
local G = _G
local next, type, random, randomseed = next, type, math.random, math.randomseed

local t = K.base
for _, name in next, { "assert", "ipairs", "pairs", "rawequal", "type", "_VERSION" } do
  t[name] = G[name]
end
local math_copy = {}
for name, f in next, G.math do
  math_copy[name] = f
end
-- The stock one seeds with an address, and returns it.
math_copy.randomseed = function(...)
  if ... == nil then
    randomseed(random(0), random(0))
  else
    randomseed(...)
  end
end
t.string, t.table, t.utf8, t.json, t.coroutine, t.math = K.string, K.table, K.utf8, K.json, K.coroutine, math_copy
t.os = { clock = G.os.clock, date = G.os.date, time = G.os.time }
t._G = t

local base = {} -- where C looks for the name of a function that it was called as
for name, f in next, t do
  if type(f) == "function" then
    K.function_names[f] = name
    base[name] = f
  end
end
G.package.loaded._G = base
for _, library in next, { "string", "table", "utf8", "math", "coroutine", "os" } do
  for name, f in next, t[library] do
    K.function_names[f] = library .. "." .. name
  end
end

K.env = t
