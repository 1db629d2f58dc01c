"""Ordinary Lua gives the same results in the sandbox as in stock Lua."""

from __future__ import annotations

import pytest

from evatui.kernel.lua import Engine, Raised
from tests.lua.bare import bare_value
from tests.lua.harness import NAME, outcome_of, value_of

PROGRAMS = {
    "classes and inheritance": """
      local Animal = {} Animal.__index = Animal
      function Animal.new(name) return setmetatable({name = name}, Animal) end
      function Animal:speak() return self.name .. " makes a sound" end
      local Dog = setmetatable({}, {__index = Animal}) Dog.__index = Dog
      function Dog.new(name) local d = Animal.new(name) return setmetatable(d, Dog) end
      function Dog:speak() return Animal.speak(self) .. ": woof" end
      local d = Dog.new("Rex")
      return {d:speak(), getmetatable(d) == Dog, rawequal(getmetatable(Dog).__index, Animal)}
    """,
    "operators by metamethods": """
      local V = {} V.__index = V
      local function v(x, y) return setmetatable({x = x, y = y}, V) end
      V.__add = function(a, b) return v(a.x + b.x, a.y + b.y) end
      V.__eq = function(a, b) return a.x == b.x and a.y == b.y end
      V.__lt = function(a, b) return a.x < b.x end
      V.__le = function(a, b) return a.x <= b.x end
      V.__unm = function(a) return v(-a.x, -a.y) end
      V.__len = function(a) return 2 end
      V.__call = function(self, k) return self.x * k end
      V.__concat = function(a, b) return "v" .. tostring(b) end
      V.__tostring = function(a) return "(" .. a.x .. "," .. a.y .. ")" end
      V.__idiv = function(a, k) return v(a.x // k, a.y // k) end
      V.__band = function(a, k) return a.x & k end
      V.__close = function() end
      local a, b = v(1, 2), v(3, 4)
      return {tostring(a + b), a == v(1, 2), a < b, a <= b, tostring(-a), #a, a(5), a .. b, tostring(b // 2), b & 1}
    """,
    "index and newindex": """
      local log, store = {}, {}
      local t = setmetatable({}, {
        __index = function(_, k) log[#log + 1] = "get " .. k return store[k] end,
        __newindex = function(_, k, x) log[#log + 1] = "set " .. k store[k] = x end,
      })
      t.a = 1 t.b = t.a rawset(t, "c", 3)
      return {log, store, t.c, rawget(t, "a") == nil}
    """,
    "closures and upvalues": """
      local function counter() local n = 0 return function() n = n + 1 return n end, function() return n end end
      local inc, get = counter() inc() inc()
      local fs = {} for i = 1, 3 do fs[i] = function() i = i + 10 return i end end
      return {get(), fs[1](), fs[1](), fs[2]()}
    """,
    "iterators": """
      local function range(n) local i = 0 return function() i = i + 1 if i <= n then return i end end end
      local t = {} for i in range(4) do t[#t + 1] = i * i end
      local function squares(n, i) if i < n then return i + 1, (i + 1) ^ 2 end end
      for i, s in squares, 3, 0 do t[#t + 1] = s end
      for k, x in pairs(setmetatable({}, {__pairs = function() return next, {z = 9}, nil end})) do t[#t + 1] = k .. x end
      return t
    """,
    "varargs": """
      local function f(...) local a, b = ... return select("#", ...), a, b, select(-1, ...) end
      local p = table.pack(f(1, nil, 3, nil))
      return {p.n, p[1], p[2], tostring(p[3]), (select("#", table.unpack({1, 2, 3}, 2)))}
    """,
    "goto and loops": """
      local out = {}
      for i = 1, 10 do
        if i % 2 == 0 then goto continue end
        if i > 7 then break end
        out[#out + 1] = i
        ::continue::
      end
      for i = 3, 1, -1 do out[#out + 1] = i end
      for x = 1.0, 2.0, 0.5 do out[#out + 1] = x end
      local n = 0 repeat local done = n >= 2 n = n + 1 until done
      out[#out + 1] = n
      return out
    """,
    "numbers": """
      return {7 // 2, -7 // 2, 7.0 // 2, 7 % -3, -7 % 3, 5.5 % 2, 2 ^ 10, 1 / 2, 3 | 4, 6 & 3, 5 ~ 1, ~0, 1 << 62, 256 >> 4,
        math.maxinteger + 1 == math.mininteger, math.type(1), math.type(1.0), math.tointeger(3.0), 10 // 0.0 == math.huge,
        "10" + 5, "0x10" * 2, 10 .. 20, tostring(1e15), tostring(2^53), tostring(-0.0), 1e100, tonumber("  12  "),
        tonumber("ff", 16), tonumber("z", 36), tostring(tonumber("x")), math.floor(-1.5), math.ceil(1.2), math.fmod(-5, 3),
        math.ult(1, -1), math.max(1, 5, 3), math.abs(-4), string.format("%.3f", math.pi), 3 == 3.0, "1" == 1}
    """,
    "strings": """
      return {("abc"):upper(), ("ABC"):lower(), ("abc"):rep(3, "-"), ("abc"):reverse(), ("hello"):sub(-3, -2), #"a\\0b",
        ("x"):byte(), string.char(72, 105), ("a,b,,c"):find(",", 3, true), ("%d"):format(3), ("%5.1f|%-5s|%05d|%x"):format(3.14159, "ab", 42, 255),
        ("%q"):format("a\\nb"), ("key=val"):match("(%w+)=(%w+)"), ("  trim  "):match("^%s*(.-)%s*$"), ("abc"):gsub("%w", "%0%0"),
        ("hello world"):gsub("o", {o = "0"}), ("hello"):gsub("", "-"), ("abc"):gsub("b", function() return nil end),
        ("x"):rep(0), ("x"):rep(-1), ("%s %s"):format(nil, true), ("%%"):format(), ("%c"):format(65), ("%i"):format(3.0)}
    """,
    "string iteration": """
      local t = {}
      for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do t[#t + 1] = k .. v end
      for w in ("one two"):gmatch("%a+") do t[#t + 1] = w end
      for p in ("abc"):gmatch("()") do t[#t + 1] = p end
      return t
    """,
    "packing": """
      local s = string.pack("<i4z>s2", 7, "hey", "you")
      local a, b, c, at = string.unpack("<i4z>s2", s)
      return {#s, a, b, c, at, string.packsize("i4i8"), ("z"):pack("q"):byte(-1)}
    """,
    "utf8": """
      local t = {} for p, c in utf8.codes("aé€") do t[#t + 1] = p .. ":" .. c end
      return {t, utf8.len("aé€"), utf8.char(233, 8364), utf8.codepoint("é"), utf8.offset("aé€", 3), utf8.len("\\xff") == nil,
        #utf8.charpattern}
    """,
    "tables": """
      local t = {5, 2, 8, 1}
      table.sort(t) local asc = table.concat(t, ",")
      table.sort(t, function(a, b) return a > b end)
      table.insert(t, 1, 9) table.insert(t, 0) local gone = table.remove(t, 2) local last = table.remove(t)
      local m = table.move({1, 2, 3}, 1, 3, 3, {0, 0})
      local o = {1, 2, 3, 4, 5} table.move(o, 1, 4, 2) local b = {1, 2, 3, 4, 5} table.move(b, 2, 5, 1)
      local names = {"b", "a", "C"} table.sort(names)
      return {asc, t, gone, last, m, o, b, names, #t, next({}) == nil, table.unpack({1, 2}, 1, 2)}
    """,
    "sorting what compares by metamethods": """
      local mt = {__lt = function(a, b) return a.n < b.n end}
      local t = {} for i = 1, 20 do t[i] = setmetatable({n = i * 7 % 20}, mt) end
      table.sort(t)
      local ns = {} for i, x in ipairs(t) do ns[i] = x.n end
      return ns
    """,
    "errors": """
      local out = {}
      local function try(f, ...) local r = table.pack(pcall(f, ...)) for i = 1, r.n do out[#out + 1] = tostring(r[i]) end end
      try(error, "plain", 0) try(error, {code = 7}) out[#out] = "t" try(error) try(function() return 1, nil, 3 end)
      try(assert, false, "asserted") try(assert, 1, 2) try(function() error("deep", 0) end)
      local ok, e = pcall(error, {code = 7}) out[#out + 1] = e.code
      out[#out + 1] = select(2, xpcall(function() error("x", 0) end, function(m) return m .. "!" end))
      out[#out + 1] = tostring(select("#", xpcall(function(...) return ... end, print, 1, 2)))
      out[#out + 1] = tostring(pcall(pcall, error, "e"))
      return out
    """,
    "coroutines": """
      local out = {}
      local co = coroutine.create(function(a, b)
        local c = coroutine.yield(a + b)
        local d, e = coroutine.yield(c * 2)
        return d + e, "done"
      end)
      for _, args in ipairs({{1, 2}, {10}, {3, 4}, {}}) do
        local r = table.pack(coroutine.resume(co, table.unpack(args)))
        for i = 1, r.n do out[#out + 1] = tostring(r[i]) end
        out[#out + 1] = coroutine.status(co)
      end
      local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
      for x in gen do out[#out + 1] = x end
      local bad = coroutine.create(function() error({code = 1}) end)
      local ok, e = coroutine.resume(bad) out[#out + 1] = e.code
      local outer = coroutine.wrap(function() local inner = coroutine.wrap(function() coroutine.yield(1) coroutine.yield(2) end) coroutine.yield(inner() + 10) coroutine.yield(inner() + 10) end)
      out[#out + 1] = outer() + outer()
      local through = coroutine.wrap(function() out[#out + 1] = tostring(pcall(function() coroutine.yield("in pcall") error("after", 0) end)) return "end" end)
      out[#out + 1] = through() out[#out + 1] = through()
      local _, main = coroutine.running() out[#out + 1] = tostring(main) out[#out + 1] = tostring(coroutine.isyieldable())
      coroutine.wrap(function() local _, m = coroutine.running() out[#out + 1] = tostring(m) out[#out + 1] = tostring(coroutine.isyieldable()) end)()
      local closing = coroutine.create(function() local x <close> = setmetatable({}, {__close = function() out[#out + 1] = "closed" end}) coroutine.yield() end)
      coroutine.resume(closing) out[#out + 1] = tostring(coroutine.close(closing)) out[#out + 1] = coroutine.status(closing)
      return out
    """,
    "closing variables": """
      local out = {}
      local function closer(name) return setmetatable({}, {__close = function(_, e) out[#out + 1] = name .. tostring(e) end}) end
      do local a <close> = closer("a") local b <close> = closer("b") local c <const> = 5 out[#out + 1] = c end
      pcall(function() local d <close> = closer("d") error("boom", 0) end)
      for i = 1, 2 do local e <close> = closer("e" .. i) if i == 1 then goto next end out[#out + 1] = "body" ::next:: end
      return out
    """,
    "environments": """
      local x = {}
      do local _ENV = {tostring = tostring, out = x} out.a = tostring(5) y = 1 end
      z = 3
      return {x, y == nil, _G.z, _G._G == _G, _ENV == _G, _VERSION}
    """,
    "integer keys and borders": """
      local t = {} t[1.0] = "a" t[2] = "b" t["3"] = "c"
      local n = 0 for _ in pairs(t) do n = n + 1 end
      return {t[1], #t, n, #"", rawlen({1, 2}), select("#"), next({}, nil) == nil, type(next), rawequal("a", "a")}
    """,
    "time": 'return {os.time({year = 2020, month = 1, day = 2, hour = 3}), os.date("!%Y-%m-%d %H:%M:%S", 86400), type(os.clock()), os.date("!*t", 0).year}',
}


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
async def test_ordinary_programs_give_the_same_results(engine: Engine, body: str) -> None:
    assert await value_of(engine, body) == bare_value(body)


async def test_a_metamethod_added_later_has_no_effect_until_set_again(engine: Engine) -> None:
    body = """
      local mt = {} local t = setmetatable({}, mt)
      mt.__index = function() return "late" end
      local before = t.x
      setmetatable(t, mt)
      return {before == nil, t.x, getmetatable(t) == mt}
    """
    assert await value_of(engine, body) == [True, "late", True]


async def test_methods_added_to_the_string_table_are_methods_of_texts(engine: Engine) -> None:
    assert await value_of(engine, "function string.twice(s) return s .. s end return ('ab'):twice()") == "abab"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("local x = ('x'):rep({})", "bad argument #2"),
        ("local x = string.find(nil, 'x')", "bad argument #1"),
        ("local x = setmetatable(1, {})", "table expected, got number"),
        ("local x = coroutine.wrap(1)", "function expected, got number"),
        ("local x = xpcall(print)", "function expected, got nil"),
        ("local x = table.concat({1, {}})", "invalid value (table) at index 2"),
        ("local x = {} .. 'a'", "attempt to concatenate a table value"),
        ("local x = tostring()", "value expected"),
    ],
)
async def test_wrong_arguments_are_named(engine: Engine, body: str, message: str) -> None:
    outcome = await outcome_of(engine, f"function invoke()\n{body}\nend")
    assert isinstance(outcome, Raised)
    assert message in outcome.message
    assert outcome.line == 2
    assert outcome.message.startswith(f"{NAME}:2: ")
    assert "evatui" not in outcome.message
    assert "?" not in outcome.message
