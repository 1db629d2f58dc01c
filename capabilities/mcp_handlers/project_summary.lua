-- project.summary: this project at a glance, for a client that has just connected.
--
-- Asks the workspace's own tools, and tells of what each of them could not say instead of failing with it: a tool may
-- be switched off, or not be there at all.

local manifestcard = require("manifestcard")
local Project = require("project")
local textkit = require("textkit")

local SHOWN_LANGUAGES = 8
local SHOWN_CAPABILITIES = 100

-- The result of another tool, or nil and why not.
local function ask(host, capability, payload)
  local done, answer = pcall(host.call_tool, { capability = capability, payload = payload })
  if not done then
    return nil, type(answer) == "table" and (answer.message or answer.kind) or tostring(answer)
  elseif not answer.ok then
    return nil, answer.error.message
  end
  return answer.result
end

local function note(missing, what, why)
  missing[#missing + 1] = { part = what, reason = (textkit.cut(why or "no reason was given", 300)) }
end

local function first(list, count)
  local found = {}
  for index, item in ipairs(list) do
    if index <= count then
      found[index] = item
    end
  end
  return json.array(found)
end

local function sources(host, missing)
  local found, why = ask(host, "repo.summary", json.object({}))
  if not found then
    note(missing, "sources", why)
    return nil
  end
  return {
    summary = found.summary, files = found.files, bytes = found.bytes, lines = found.lines, readme = found.readme,
    languages = first(found.languages, SHOWN_LANGUAGES), complete = found.complete,
  }
end

local function configuration(host, missing)
  local found, why = ask(host, "config.validate_project", { severity = "warning" })
  if not found then
    note(missing, "configuration", why)
    return nil
  end
  return { summary = found.summary, valid = found.valid, errors = found.counts.error, warnings = found.counts.warning }
end

local function capabilities(host, missing)
  local project = Project.new(host)
  local layout = project:layout()
  if not layout then
    note(missing, "capabilities", "the workspace cannot be listed")
    return json.array({})
  end
  local cards = {}
  for _, path in ipairs(project:manifests(layout)) do
    local card = #cards < SHOWN_CAPABILITIES and manifestcard.read(project, path)
    if card then
      cards[#cards + 1] = {
        id = card.id, kind = card.kind, version = card.version, description = card.description,
        capabilities = card.capabilities,
      }
    end
  end
  return json.array(cards)
end

local function sentence(result)
  local parts = { textkit.counted(#result.capabilities, "capability file") }
  if result.sources then
    table.insert(parts, 1, result.sources.summary)
  end
  if result.configuration then
    parts[#parts + 1] = result.configuration.summary
  end
  return (textkit.cut(table.concat(parts, "; "), 1000))
end

local function invoke(ctx)
  local missing = {}
  ctx.host.progress({ done = 0, total = 3, message = "sources" })
  local result = { sources = sources(ctx.host, missing) }
  ctx.host.progress({ done = 1, total = 3, message = "configuration" })
  result.configuration = configuration(ctx.host, missing)
  ctx.host.progress({ done = 2, total = 3, message = "capabilities" })
  result.capabilities = capabilities(ctx.host, missing)
  result.missing = json.array(missing)
  result.summary = sentence(result)
  return { ok = true, result = result }
end

local function health_check(ctx)
  ctx.host.fs_list({ path = ".", limit = 1 })
  return { ok = true }
end

return { invoke = invoke, health_check = health_check }
