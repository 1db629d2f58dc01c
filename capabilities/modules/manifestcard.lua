-- A manifest on a card: who it is and what it may do, as far as it can be read off the file.

local textkit = require("textkit")

local manifestcard = {}

-- What stands under `path` as a list, in order.
local function list_of(entries, path)
  local found = {}
  for _, entry in ipairs(entries) do
    if entry.path == path .. "[]" and entry.value then
      found[#found + 1] = entry.value
    end
  end
  return json.array(found)
end

local function value_of(keys, path)
  return keys[path] and keys[path].value
end

-- The card of the manifest at `path`, and its entries by path; nil where it cannot be read or has no id.
function manifestcard.read(project, path)
  local keys, entries = project:read_yaml(path)
  local id = keys and value_of(keys, "id")
  if not id then
    return nil
  end
  local description = value_of(keys, "mcp.description") or value_of(keys, "description") or value_of(keys, "name") or id
  local card = {
    id = id,
    name = value_of(keys, "name") or id,
    kind = value_of(keys, "kind") or "unknown",
    version = value_of(keys, "version") or "unknown",
    description = (textkit.cut(description, 500)),
    capabilities = list_of(entries, "capabilities"),
    enabled = value_of(keys, "enabled") ~= "false",
    manifest = path,
    tool = value_of(keys, "mcp.tool_name"),
  }
  return card, keys, entries
end

-- What the manifest asks to be allowed, each as a phrase.
function manifestcard.wishes(entries)
  local phrases = {
    { "permissions.fs.read", "read files under " }, { "permissions.fs.write", "write files under " },
    { "permissions.network.hosts", "connect to " }, { "permissions.env", "use the credential " },
    { "permissions.adapters.capabilities", "call " }, { "permissions.events.emit", "emit events on " },
  }
  local found = {}
  for _, phrase in ipairs(phrases) do
    for _, value in ipairs(list_of(entries, phrase[1])) do
      found[#found + 1] = phrase[2] .. value
    end
  end
  return json.array(found)
end

-- Does the card answer to this name: its id, a capability or its tool? A tool's dots may be underscores.
function manifestcard.answers_to(card, name)
  if card.id == name or card.tool == name then
    return true
  end
  if card.tool and card.tool:gsub("%.", "_") == name then
    return true
  end
  for _, capability in ipairs(card.capabilities) do
    if capability == name then
      return true
    end
  end
  return false
end

return manifestcard
