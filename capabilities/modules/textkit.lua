-- Text work that several tools share.
-- Everything here is linear in the length of its input: searches are plain, or use patterns
-- without a quantifier, so that no file a tool is shown can make it slow.

local textkit = {}

local CARRIAGE_RETURN = 13

-- The text without white space at both ends.
function textkit.trim(text)
  local first = text:find("%S")
  if not first then
    return ""
  end
  local last = #text
  while text:find("^%s", last) do
    last = last - 1
  end
  return text:sub(first, last)
end

-- Iterates over the lines of a text, as `number, line`. A line ends with LF or CRLF; text after the
-- last line end is a line too, an empty rest is not.
function textkit.lines(text)
  local number, from = 0, 1
  return function()
    if from > #text then
      return nil
    end
    local line_end = text:find("\n", from, true) or #text + 1
    local last = line_end - 1
    if text:byte(last) == CARRIAGE_RETURN and last >= from then
      last = last - 1
    end
    local line = text:sub(from, last)
    number, from = number + 1, line_end + 1
    return number, line
  end
end

function textkit.count_lines(text)
  local count, from = 0, 1
  while from <= #text do
    count = count + 1
    local line_end = text:find("\n", from, true)
    if not line_end then
      break
    end
    from = line_end + 1
  end
  return count
end

-- The parts of a text between each separator, which is plain text. "a//b" has an empty part.
function textkit.split(text, separator)
  local parts, from = {}, 1
  while true do
    local first, last = text:find(separator, from, true)
    if not first then
      break
    end
    parts[#parts + 1] = text:sub(from, first - 1)
    from = last + 1
  end
  parts[#parts + 1] = text:sub(from)
  return parts
end

-- Characters, not bytes; a text that is not UTF-8 is measured in bytes.
function textkit.length(text)
  return utf8.len(text) or #text
end

-- At most `limit` characters of the text, and whether anything was cut. Never cuts inside a character.
function textkit.cut(text, limit)
  -- A text of so few bytes cannot have more characters; most texts end here without being counted.
  if #text <= limit or textkit.length(text) <= limit then
    return text, false
  end
  if not utf8.len(text) then
    return text:sub(1, limit), true
  end
  return text:sub(1, utf8.offset(text, limit + 1) - 1), true
end

-- "1 file", "3 files".
function textkit.counted(number, noun)
  return number .. " " .. noun .. (number == 1 and "" or "s")
end

-- Bytes as a person reads them: "812 B", "4.2 KB", "1.3 MB".
function textkit.bytes(number)
  local units = { "B", "KB", "MB", "GB" }
  local unit = 1
  while number >= 1000 and unit < #units do
    number, unit = number / 1000, unit + 1
  end
  return unit == 1 and number .. " B" or string.format("%.1f %s", number, units[unit])
end

-- The keys of a table as sorted texts, for an order that is the same in every run.
function textkit.sorted_keys(map)
  local keys = {}
  for key in pairs(map) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

return textkit
