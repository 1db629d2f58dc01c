-- What a README says first: its heading, and the first paragraph of prose below it.

local textkit = require("textkit")

local readme = {}

-- Begins of lines that are badges, images, HTML, tables, quotes or rules, and so no prose.
local NO_PROSE = { "[![", "![", "<", "|", ">", "---", "***", "===", "```" }

local function is_prose(line)
  for _, start in ipairs(NO_PROSE) do
    if line:sub(1, #start) == start then
      return false
    end
  end
  return line ~= ""
end

local function underlines(line)
  return line:find("^===") ~= nil or line:find("^%-%-%-") ~= nil
end

-- The text after the hashes of `## heading`, or nil.
local function hash_heading(line)
  local hashes = line:match("^#+ ")
  return hashes and textkit.trim(line:sub(#hashes))
end

-- Returns the first heading (`# heading`, or a line that is underlined) or nil, and the first
-- paragraph after it on one line, or nil. Code blocks are passed over.
function readme.opening(text)
  local heading, paragraph, in_code = nil, {}, false
  for _, raw in textkit.lines(text) do
    local line = textkit.trim(raw)
    local title = not in_code and hash_heading(line)
    if line:sub(1, 3) == "```" then
      in_code = not in_code
    end
    if not heading and title then
      heading, paragraph = title, {}
    elseif not heading and #paragraph == 1 and underlines(line) then
      -- What looked like a paragraph of one line was a heading.
      heading, paragraph = paragraph[1], {}
    elseif not in_code and not title and is_prose(line) then
      paragraph[#paragraph + 1] = line
    elseif #paragraph > 0 and heading then
      break
    elseif #paragraph > 1 then
      -- Prose before any heading: a file without one.
      break
    end
  end
  return heading, #paragraph > 0 and table.concat(paragraph, " ") or nil
end

return readme
