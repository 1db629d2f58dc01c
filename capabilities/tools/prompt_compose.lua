-- prompt.compose: a prompt from a template, values and sections, within a length.
--
-- `{{name}}` is replaced by the variable of that name, once: what a value contains is never read as
-- a placeholder again, so a value cannot smuggle in another one. `\{{` stands for a plain `{{`.
-- Sections follow by priority, the highest first, where the template says `{{sections}}`, or else at
-- its end. Where all of it is too long, whole sections are dropped, the lowest priority first; the
-- template is never cut.

local textkit = require("textkit")

local DEFAULT_MAX_CHARACTERS = 16000
local DEFAULT_PRIORITY = 50
local SEPARATOR = "\n\n"
local SECTIONS = "sections"

local function invalid_input(message)
  return { ok = false, error = { kind = "InvalidInput", message = message, retryable = false } }
end

local function is_name(text)
  return text:find("^[%a_]") ~= nil and not text:find("[^%w_.-]")
end

-- The line on which the character at this position stands.
local function line_of(text, position)
  return textkit.count_lines(text:sub(1, position))
end

-- The name in the placeholder that opens at this position, and where the rest begins. Returns nil
-- and a problem where it has no end or no proper name.
local function placeholder(template, opened)
  local closed = template:find("}}", opened, true)
  if not closed then
    return nil, string.format("line %d: '{{' without '}}'", line_of(template, opened))
  end
  local name = textkit.trim(template:sub(opened + 2, closed - 1))
  if not is_name(name) then
    local shown = textkit.cut(name, 40)
    return nil, string.format("line %d: '%s' is no name of a variable", line_of(template, opened), shown)
  end
  return name, closed + 2
end

-- Splits a template into pieces: {text}, and {name} for placeholders. Or nil and a problem.
local function parse(template)
  local pieces, from = {}, 1
  local opened = template:find("{{", from, true)
  while opened do
    if opened > from and template:sub(opened - 1, opened - 1) == "\\" then
      pieces[#pieces + 1] = { text = template:sub(from, opened - 2) .. "{{" }
      from = opened + 2
    else
      local name, rest = placeholder(template, opened)
      if not name then
        return nil, rest
      end
      pieces[#pieces + 1] = { text = template:sub(from, opened - 1) }
      pieces[#pieces + 1] = { name = name }
      from = rest
    end
    opened = template:find("{{", from, true)
  end
  pieces[#pieces + 1] = { text = template:sub(from) }
  return pieces
end

-- Fills pieces in. `values` answers for a name; names without an answer are added to `missing`.
local function fill(pieces, values, missing, used)
  local texts = {}
  for index, piece in ipairs(pieces) do
    if not piece.name then
      texts[index] = piece.text
    else
      local value = values[piece.name]
      used[piece.name] = true
      if value == nil then
        missing[piece.name] = true
      end
      texts[index] = tostring(value)
    end
  end
  return table.concat(texts)
end

local function section_name(section, index)
  return section.name or "section " .. index
end

-- Parses the sections. Returns them by priority, the highest first, equal ones in their own order.
local function parse_sections(sections)
  local parsed = {}
  for index, section in ipairs(sections) do
    local pieces, problem = parse(section.text)
    if not pieces then
      return nil, section_name(section, index) .. ", " .. problem
    end
    parsed[index] = {
      index = index,
      name = section_name(section, index),
      title = section.title,
      priority = section.priority or DEFAULT_PRIORITY,
      pieces = pieces,
    }
  end
  table.sort(parsed, function(one, other)
    if one.priority ~= other.priority then
      return one.priority > other.priority
    end
    return one.index < other.index
  end)
  return parsed
end

local function fill_sections(sections, values, missing, used)
  for _, section in ipairs(sections) do
    local body = fill(section.pieces, values, missing, used)
    section.text = section.title and section.title .. "\n" .. body or body
    section.characters = textkit.length(section.text)
  end
end

-- The variables, and under `sections` the block of all sections.
local function with_sections(variables, block)
  return setmetatable({ [SECTIONS] = block }, { __index = variables })
end

local function has_place_for_sections(template)
  for _, piece in ipairs(template) do
    if piece.name == SECTIONS then
      return true
    end
  end
  return false
end

-- Puts the first `count` sections into the template.
local function assemble(template, sections, count, variables)
  local texts = {}
  for index = 1, count do
    texts[index] = sections[index].text
  end
  local block = table.concat(texts, SEPARATOR)
  local text = fill(template, with_sections(variables, block), {}, {})
  if count == 0 or has_place_for_sections(template) then
    return text
  end
  return text == "" and block or text .. SEPARATOR .. block
end

-- Composes with as many sections as fit. Returns the text and how many they are, or nil and the
-- length that the template needs alone.
local function compose(template, sections, variables, limit)
  local shortest
  for count = #sections, 0, -1 do
    local text = assemble(template, sections, count, variables)
    shortest = textkit.length(text)
    if shortest <= limit then
      return text, count
    end
  end
  return nil, shortest
end

local function dropped_after(sections, count)
  local dropped = {}
  for index = count + 1, #sections do
    local section = sections[index]
    dropped[#dropped + 1] = { name = section.name, priority = section.priority, characters = section.characters }
  end
  return dropped
end

local function names_of(sections, count)
  local names = {}
  for index = 1, count do
    names[index] = sections[index].name
  end
  return names
end

local function unused_names(variables, used)
  local unused = {}
  for _, name in ipairs(textkit.sorted_keys(variables)) do
    if not used[name] then
      unused[#unused + 1] = name
    end
  end
  return unused
end

-- All names that have no value, over the template and every section, also one that would be dropped.
local function find_missing(template, sections, variables, used)
  local missing = {}
  fill(template, with_sections(variables, ""), missing, used)
  fill_sections(sections, variables, missing, used)
  return textkit.sorted_keys(missing)
end

local function invoke(_, request)
  local payload = request.payload
  local variables, limit = payload.variables or {}, payload.max_chars or DEFAULT_MAX_CHARACTERS
  local template, problem = parse(payload.template)
  if not template then
    return invalid_input("template, " .. problem)
  end
  local sections, section_problem = parse_sections(payload.sections or {})
  if not sections then
    return invalid_input(section_problem)
  end
  local used = {}
  local missing = find_missing(template, sections, variables, used)
  if #missing > 0 then
    return invalid_input("missing variables: " .. table.concat(missing, ", "))
  end
  local text, count = compose(template, sections, variables, limit)
  if not text then
    return invalid_input(string.format("the template alone has %d characters, max_chars is %d", count, limit))
  end
  return {
    ok = true,
    result = {
      text = text,
      characters = textkit.length(text),
      sections = names_of(sections, count),
      dropped = dropped_after(sections, count),
      unused_variables = unused_names(variables, used),
    },
  }
end

local function health_check()
  local text = compose(parse("Hello {{name}}"), {}, { name = "you" }, 20)
  return { ok = text == "Hello you" }
end

return { invoke = invoke, health_check = health_check }
