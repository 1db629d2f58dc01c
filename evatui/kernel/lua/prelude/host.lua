-- What a handler calls the host with: ctx.host, print and warn.

local K = ...
local select, next, gsub, concat = select, next, string.gsub, table.concat
local utf8_len = utf8.len
local ask, tostring = K.ask, K.tostring

local function log(level, fields)
  return ask("log", { level = level, fields = fields })
end

local function now()
  local answer = ask("now")
  return answer[1], answer[2]
end

-- The ctx of every call: {host = {...}}, read-only.
function K.context(names)
  local host = { log = log, now = now }
  for _, name in next, names do
    host[name] = host[name] or function(argument)
      return ask(name, argument)
    end
  end
  return K.view({ host = K.view(host) })
end

local function speak(level, separator)
  return function(...)
    local words = { ... }
    for i = 1, select("#", ...) do
      words[i] = tostring(words[i])
    end
    local text = concat(words, separator)
    if not utf8_len(text) then
      text = gsub(text, "[\x80-\xff]", "?")
    end
    log(level, { message = text })
  end
end

K.base.print = speak("info", "\t")
K.base.warn = speak("warn", "")
