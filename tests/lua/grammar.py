"""Lua programs made by chance: ordinary ones that end and depend on nothing, and hostile ones.

Each rule is a list of templates. In them ``$n`` stands for a number, ``$x`` a text, ``$b`` a condition, ``$v`` a
value of any kind, ``$k`` a literal, ``$p`` a pattern, ``$i`` statements, and ``‹…¦…›`` for one of the parts.
"""

# ruff: noqa: E501 (one template, one line)
from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

__all__ = ["garbage", "hostile", "ordinary"]

Rules = Mapping[str, Sequence[str]]

_END: Rules = {  # where nothing may be nested any more
    "n": [
        "0",
        "1",
        "-1",
        "2",
        "7",
        "10",
        "0.5",
        "-2.25",
        "1e3",
        "255",
        "math.maxinteger",
        "math.mininteger",
        "2^53",
        "a",
        "b",
        "c",
        "#t",
        "#s",
    ],
    "x": [
        '""',
        '"a"',
        '"abc"',
        '"Hello, World"',
        '"12"',
        '"0x1F"',
        '"a(b)c"',
        '"é€"',
        '" x "',
        '"a\\0b"',
        '"-3.5"',
        "s",
        "r",
    ],
    "b": ["true", "false", "nil", "a == b", "s == r"],
    "i": ["note(a, s)", "note(t[1])", "a = 1"],
}
_ORDINARY: Rules = {
    "k": _END["x"][:-2],
    "p": ["%a+", "%d", "[^a-c]", "(%w)(%w)", "^.", ".$", "a*", "b-", "%s*", "(.)%1", "%f[%w]%w+", "x?y?", "()", "%b()"],
    "n": [
        "($n ‹+¦-¦*¦/¦//¦%¦^¦&¦|¦~¦<<¦>>› $n)",
        "($n ‹+¦-¦*› $n)",
        "- $n",
        "math.‹floor¦ceil¦abs¦sqrt¦tointeger›($n)",
        "math.‹max¦min¦fmod¦ult›($n, $n)",
        "#$x",
        "(tonumber($x) or $n)",
        "(($b) and $n or $n)",
        "f($n, $n)",
        "(($x):byte(‹1¦-1¦2›) or 0)",
        "(t[‹1¦2¦#t¦99›] or $n)",
        "select('#', $n, $n)",
        "p.x + $n",
    ],
    "x": [
        "($x .. $x)",
        "($x .. $n)",
        "($x):sub(‹-4¦-1¦0¦2›, ‹-3¦-1¦1¦5›)",
        "($x):‹upper¦lower¦reverse›()",
        "($x):rep(‹-1¦0¦2¦3›, $k)",
        "tostring($n)",
        '(("%‹d¦5d¦-5d¦x¦.3f¦g¦e¦s¦q¦10s¦c¦i›"):format(‹$n¦$x›))',
        '(($x):gsub("$p", ‹$k¦string.upper¦{a = 1}¦g›))',
        '(($x):match("$p", ‹-2¦1¦3›) or "none")',
        'tostring(($x):find("$p"))',
        "table.concat(t, $k)",
        "tostring($b)",
        "tostring(utf8.len($x))",
    ],
    "b": [
        "$n ‹<¦<=¦==¦~=¦>¦>=› $n",
        "$x ‹<¦<=¦==¦~=¦>¦>=› $x",
        "not ($b)",
        "($b) ‹and¦or› ($b)",
        "rawequal($n, $n)",
        "p ‹<¦==¦<=› q",
    ],
    "i": [
        "a = $n",
        "b, c = $n, a",
        "‹s¦r› = $x",
        "note($n, $x, $b)",
        "note($n)",
        "note($x)",
        "if $b then $i else $i end",
        "for i = ‹-3¦0¦3›, ‹-3¦1¦5›, ‹1¦2¦-1› do c = i $i end",
        "for i, v in ipairs(t) do if i > 5 then break end note(i, v) $i end",
        "do local k <const> = $n note(k) $i end",
        "try(function() local n = 0 ::again:: n = n + 1 if n % 2 == 0 then goto on end $i ::on:: if n < 3 then goto again end end)",
        "table.insert(t, $n)",
        "table.insert(t, ‹0¦1¦2¦4›, ‹$n¦$x›)",
        "note(table.remove(t‹¦, 1¦, #t¦, 2›))",
        "table.sort(t‹¦, function(x, y) return x > y end›)",
        "note(table.unpack(t, 1, 4))",
        "note(pcall(function() $i error(‹$n¦$x¦{code = 1}¦nil›) end))",
        "note(select(2, xpcall(function() $i return $n .. nil end, function(e) return 'handled ' .. tostring(e) end)))",
        "local co = coroutine.wrap(function(v) for i = 1, 3 do v = coroutine.yield(v, i) $i end end) note(co($n)) note(co(2))",
        "local co = coroutine.create(function() $i local x = $n .. {} end) note(coroutine.resume(co)) note(coroutine.status(co))",
        "note(select('#', pcall(function() $i return ‹¦nil¦$n, nil› end)))",
        "note(select('#', coroutine.resume(coroutine.create(function() $i return ‹¦nil¦$n, nil› end))))",
        "note(select('#', coroutine.wrap(function() $i coroutine.yield(‹¦nil¦$n, nil›) end)()))",
        "f = function(x, y) note(x) return ‹x¦y¦x + y¦x // y› end",
        "p = setmetatable({x = $n}, M)",
        "note(p ‹+¦..¦-¦*› ‹q¦$n¦$x›)",
        "note(#p, p($n), p.missing, p.x)",
        "p.y = $n note(p.y)",
        "do local z <close> = setmetatable({}, {__close = function(_, e) note('closed', e ~= nil) end}) $i end",
        "for w in ($x):gmatch('‹%a¦%d+¦()¦(%w)(.)›') do note(w) end",
        "note(string.pack('‹<i2¦>I4¦s1¦z¦d›', ‹$n¦$x›))",
    ],
}
_HOSTILE: Rules = {
    "n": _ORDINARY["n"],
    "x": _ORDINARY["x"],
    "b": _ORDINARY["b"],
    "k": _ORDINARY["k"],
    "p": ["a*a*", ".-.-", "(.*)x", "a?a?a?b", "%b()", "[^x]*y", "%w+$", "(a)%1", "((", "%", "[a", "^(.-)%f[a]"],
    "v": [
        *("nil", "true", "{}", "ctx", "request", "_G", "json.null", "f", "t", "p", "o", "co", "print", "0/0", "1/0"),
        *("math.huge", "-1", "1 << 40", "('x'):rep(5000)", "setmetatable({}, M)", "function(...) return ... end"),
        *(
            "{1, nil, 3}",
            "{t}",
            "{[t] = t}",
            "'\\xff'",
            "getmetatable('')",
            "coroutine.running()",
            "ctx.host",
            "$n",
            "$x",
        ),
    ],
    "i": [
        "while true do $i end",
        "for i = 1, ‹10¦1000¦1e9¦math.huge› do $i end",
        "repeat $i until $b",
        "try(function() ::top:: $i goto top end)",
        "for k, v in pairs($v) do $i end",
        "for _ in function() $i return 1 end, nil, nil, setmetatable({}, {__close = function() $i end}) do end",
        "t[#t + 1] = ‹{}¦$v›",
        "s = s .. s",
        "s = ('xy'):rep(‹1000¦1e6¦1 << 27¦1 << 40›)",
        "t = {t, t}",
        "for i = 1, 1e5 do t[i] = {i} end",
        "o = table.pack(table.unpack(t, 1, ‹10¦1e5¦1e6¦1e9›))",
        "s = table.concat({s, s, s}, s)",
        "s = ('%s%s'):format(s, s):rep(‹2¦100›)",
        "o = setmetatable({}, {__index = o})",
        "for i = 1, 1e4 do t['k' .. i] = i end for k in pairs(t) do t[k] = nil end",
        "s = json.encode(‹t¦$v›)",
        "o = json.decode(‹'[' .. ('[1],'):rep(1e4) .. '1]'¦$x›)",
        "s = string.pack('‹s4¦z¦>i8¦!16 c999999›', s)",
        "n = (‹s¦('a'):rep(30)¦('a'):rep(1e4)¦('('):rep(1e5)›):find('$p')",
        "o = (‹s¦('a'):rep(30)¦('a'):rep(1e4)›):match('$p')",
        "s = (‹s¦('a'):rep(30)¦('a'):rep(1e4)›):gsub('$p', function() $i return $v end)",
        "for x in (‹s¦('a'):rep(1e4)›):gmatch('$p') do $i end",
        "n = s:find(s, 1, true) n = utf8.len(s) for _, c in utf8.codes(s) do n = c end",
        "coroutine.wrap(function() $i coroutine.yield($v) $i end)()",
        "co = coroutine.create(function() local x <close> = setmetatable({}, M) $i coroutine.yield() end) coroutine.resume(co)",
        "coroutine.‹resume(co, co)¦close(co)¦close(coroutine.running())¦yield($v)›",
        "for i = 1, 1e4 do coroutine.resume(coroutine.create(function() $i end)) end",
        "do local w w = coroutine.wrap(function() $i return w() end) w() end",
        "M.__‹index¦newindex¦call¦len¦eq¦lt¦concat¦add¦close¦tostring¦pairs¦gc¦mode¦metatable¦name› = ‹function(...) $i return $v end¦$v›",
        "p = setmetatable(‹{}¦p¦t¦_G¦string¦ctx›, ‹M¦{}¦nil¦{__index = _G}›)",
        "n = ‹#p¦p + p¦p .. p¦p < p¦p == q¦p.x.y¦tostring(p)¦p(p)›",
        "p.x = p for _ in pairs(p) do $i end",
        "do local x <close> = p $i end",
        "pcall(function() $i error($v) end)",
        "while not pcall(function() $i error() end) do $i end",
        "xpcall(function() $i local _ = nil .. 1 end, function(e) $i error(e) end)",
        "do local function h(e) $i return xpcall(h, h) end h() end",
        "error($v, ‹0¦1¦2¦99›)",
        "do local function deep(i) $i return 1 + deep(i + 1) end pcall(deep, 1) end",
        "assert($v, $v)",
        "ctx.host.‹call_tool¦state_get¦log¦now¦progress¦fs_read_text¦nothing›($v)",
        "o = ctx.host.call_tool({capability = $x, payload = $v})",
        "print($v, $v)",
        "request.‹x¦payload› = $v",
        "o = require($x)",
        "table.sort({3, 1, 2, 5, 4}, function() $i ctx.host.now() return true end)",
        "string.‹rep¦format¦byte¦gsub› = $v",
        "_G[$x] = $v",
        "‹pcall¦error¦next¦tostring¦invoke¦json¦table.unpack› = $v",
        "o = os.date($x, $n)",
        "do return $v end",
    ],
}
_HOSTILE_END: Rules = {**_END, "i": ["", "n = (n or 0) + 1", "t[#t + 1] = s", "o = {o}"]}
_CHOICE = re.compile("‹([^‹›]*)›")
_PLACE = re.compile(r"\$([nxbvkpi])")


class _Writer:
    def __init__(self, seed: int, rules: Rules, end: Rules) -> None:
        self._dice = random.Random(seed)
        self._rules, self._end = rules, end

    def write(self, name: str, depth: int) -> str:
        rules = self._end if depth <= 0 and name in self._end else self._rules
        chosen = _CHOICE.sub(lambda m: self._dice.choice(m[1].split("¦")), self._dice.choice(rules[name]))
        return _PLACE.sub(lambda m: self._nested(m[1], depth - 1), chosen)

    def _nested(self, name: str, depth: int) -> str:
        if name != "i":
            return self.write(name, depth)
        parts = (self.write("i", depth) for _ in range(self._dice.randint(1, 2)))
        return " ".join(self._dice.choice(("try(function() {} end)", "do {} end")).format(part) for part in parts)


_START = """
local out, steps = {}, 0
local function note(...) if #out < 300 then out[#out + 1] = table.pack(...) end end
local function try(x)
  steps = steps + 1
  if steps > 400 then return end
  local ok, e = pcall(x)
  if not ok then note("error", e) end
end
local a, b, c, s, r, t, f, p, q = 1, 2.5, 3, "text", "rest", {3, 1, 2}, math.max, nil, nil
local function g(x) return x .. "!" end
local M = {} M.__index = M M.x = 5
M.__add = function(x, y) return "sum" end M.__concat = function(x, y) return "joined" end M.__lt = function() return true end
M.__eq = function() return false end M.__len = function() return 7 end M.__call = function(_, v) return v end
p, q = setmetatable({x = 1}, M), setmetatable({}, M)
"""


def ordinary(seed: int) -> str:
    """The body of a function whose result depends on nothing but its text."""
    writer = _Writer(seed, _ORDINARY, _END)
    rounds = (
        f"try(function() {writer.write('i', 4)} end) s, r = tostring(s):sub(1, 60), tostring(r):sub(1, 60)"
        for _ in range(25)
    )
    return _START + "\n".join(rounds) + "\nreturn out, a, b, c, s, r, t"


_HOSTILE_START = """
local a, b, c, n, s, r, t, o, co, f, try = 1, 2, 3, 0, "text", "rest", {}, nil, nil, math.max, pcall
local M = {} M.__index = M
local p, q = setmetatable({x = 1}, M), setmetatable({}, M)
"""


def hostile(seed: int) -> str:
    """The body of ``invoke(ctx, request)``."""
    writer = _Writer(seed, _HOSTILE, _HOSTILE_END)
    caught = (f"try(function(...) {writer.write('i', 4)} end)" for _ in range(6))
    return _HOSTILE_START + "\n".join(caught) + f"\ndo {writer.write('i', 4)} end\nreturn {writer.write('v', 2)}"


_TOKENS = [
    "if",
    "then",
    "else",
    "end",
    "for",
    "while",
    "do",
    "repeat",
    "until",
    "function",
    "local",
    "return",
    "goto",
    "break",
    "nil",
    "true",
    "and",
    "or",
    "not",
    "in",
    "::",
    "..",
    "...",
    "==",
    "~=",
    "<=",
    ">=",
    "<<",
    ">>",
    "//",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ":",
    ",",
    ".",
    "#",
    "&",
    "|",
    "~",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "<",
    ">",
    "=",
    '"',
    "'",
    "[[",
    "]]",
    "--",
    "1",
    "0x",
    "1e",
    "'a'",
    "x",
    "_ENV",
    "<close>",
    "é",
    "\\",
    "\x00",
    "\x1b",
]


def garbage(seed: int) -> str:
    """The same, but what does not even parse, most of the time."""
    dice = random.Random(seed)
    if dice.random() < 0.5:
        return " ".join(dice.choice(_TOKENS) for _ in range(dice.randint(1, 200)))
    text = list(hostile(seed))
    for _ in range(dice.randint(1, 10)):
        text[dice.randrange(len(text))] = dice.choice(_TOKENS)
    return "".join(text)
