-- agent.explain: what a capability of this workspace is, takes, gives and may do, by its manifest and schemas.
--
-- Without a name it lists what there is. It reads files only: what serves at this moment is the runtime's to say.

local manifestcard = require("manifestcard")
local Project = require("project")
local textkit = require("textkit")

local SHOWN = 200

local function cards_of(project, layout)
  local cards = {}
  for _, path in ipairs(project:manifests(layout)) do
    local card, keys, entries = manifestcard.read(project, path)
    if card then
      cards[#cards + 1] = { card = card, keys = keys, entries = entries }
    end
  end
  table.sort(cards, function(one, other) return one.card.id < other.card.id end)
  return cards
end

local function names_of(list)
  local known = {}
  for _, name in ipairs(type(list) == "table" and list or {}) do
    known[name] = true
  end
  return known
end

local function type_of(schema)
  local kind = schema.type
  if type(kind) == "table" then
    return table.concat(kind, " or ")
  elseif schema.enum then
    return "one of a list"
  end
  return type(kind) == "string" and kind or "anything"
end

-- The properties of an object that a schema describes, required ones first; nil where there is no such schema.
local function fields_of(project, entry)
  local path = entry and entry.value
  local schema = path and project:is_file(path) and project:read_json(path)
  if type(schema) ~= "table" or type(schema.properties) ~= "table" then
    return nil
  end
  local required, fields = names_of(schema.required), {}
  for _, name in ipairs(textkit.sorted_keys(schema.properties)) do
    local field = schema.properties[name]
    field = type(field) == "table" and field or {}
    fields[#fields + 1] = {
      name = name, type = type_of(field), required = required[name] or false,
      description = type(field.description) == "string" and (textkit.cut(field.description, 300)) or nil,
    }
  end
  table.sort(fields, function(one, other)
    if one.required ~= other.required then
      return one.required
    end
    return one.name < other.name
  end)
  return json.array(fields)
end

local function examples_of(project, layout, id)
  local names = {}
  for _, path in ipairs(project:files_below(layout.examples .. "/" .. id)) do
    names[#names + 1] = path
  end
  return json.array(names)
end

local function sentence(card, takes, wishes)
  local may = #wishes == 0 and "only compute" or table.concat(wishes, ", ")
  local needs = {}
  for _, field in ipairs(takes or {}) do
    if field.required then
      needs[#needs + 1] = field.name
    end
  end
  local wants = #needs == 0 and "It needs no argument" or "It needs " .. table.concat(needs, ", ")
  return (textkit.cut(string.format("%s (%s %s): %s %s. It asks to %s.", card.name, card.kind, card.version,
    card.description, wants, may), 1500))
end

local function explained(project, layout, found)
  local card = found.card
  local takes, gives = fields_of(project, found.keys.input_schema), fields_of(project, found.keys.output_schema)
  local wishes = manifestcard.wishes(found.entries)
  return {
    agent = card, takes = takes, gives = gives, asks_to = wishes,
    examples = examples_of(project, layout, card.id), explanation = sentence(card, takes, wishes),
  }
end

local function listed(cards)
  local agents = {}
  for _, found in ipairs(cards) do
    if #agents < SHOWN then
      agents[#agents + 1] = found.card
    end
  end
  return { agents = json.array(agents), explanation = textkit.counted(#cards, "capability file") .. " in this workspace" }
end

local function invoke(ctx, request)
  local project = Project.new(ctx.host)
  local layout = project:layout()
  if not layout then
    return { ok = false, error = { kind = "PolicyDenied", message = "the workspace cannot be listed" } }
  end
  local cards, name = cards_of(project, layout), request.payload.name
  if not name then
    return { ok = true, result = listed(cards) }
  end
  for _, found in ipairs(cards) do
    if manifestcard.answers_to(found.card, name) then
      return { ok = true, result = explained(project, layout, found) }
    end
  end
  local message = "no manifest of this workspace answers to '" .. textkit.cut(name, 128) .. "'"
  return { ok = false, error = { kind = "NotFound", message = message } }
end

-- Healthy where the workspace can be listed at all.
local function health_check(ctx)
  ctx.host.fs_list({ path = ".", limit = 1 })
  return { ok = true }
end

return { invoke = invoke, health_check = health_check }
