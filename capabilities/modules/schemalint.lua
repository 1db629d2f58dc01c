-- What is odd in a JSON Schema although it may be a valid one: mistakes that would only show later.

local schemalint = {}

local TYPES = {
  string = true, number = true, integer = true, boolean = true, array = true, object = true, null = true,
}
-- Keywords whose value is a schema, a list of schemas, or schemas by name.
local SUBSCHEMA = { items = true, contains = true, additionalProperties = true, propertyNames = true,
  ["not"] = true, ["if"] = true, ["then"] = true, ["else"] = true }
local SUBSCHEMA_LIST = { allOf = true, anyOf = true, oneOf = true, prefixItems = true }
local SUBSCHEMA_MAP = { properties = true, patternProperties = true, ["$defs"] = true, definitions = true }
local MAX_DEPTH = 32

local function is_table(value)
  return type(value) == "table" and value ~= json.null
end

local function check_types(schema, at, report)
  local types = is_table(schema.type) and schema.type or { schema.type }
  for _, name in ipairs(types) do
    if not TYPES[name] then
      report(at, "schema_type_unknown", string.format("'%s' is no type of JSON Schema", tostring(name)))
    end
  end
end

local function check_required(schema, at, report)
  if not (is_table(schema.required) and is_table(schema.properties)) then
    return
  end
  for _, name in ipairs(schema.required) do
    if schema.properties[name] == nil then
      report(at, "schema_required_unknown", string.format("'%s' is required, but not one of the properties", tostring(name)))
    end
  end
end

local check

local function check_each(schemas, at, report, depth)
  for key, schema in pairs(schemas) do
    check(schema, at .. "/" .. tostring(key), report, depth + 1)
  end
end

function check(schema, at, report, depth)
  if not is_table(schema) or depth > MAX_DEPTH then
    return
  end
  check_types(schema, at, report)
  check_required(schema, at, report)
  for keyword, value in pairs(schema) do
    local below = at .. "/" .. tostring(keyword)
    if SUBSCHEMA[keyword] then
      check(value, below, report, depth + 1)
    elseif (SUBSCHEMA_LIST[keyword] or SUBSCHEMA_MAP[keyword]) and is_table(value) then
      check_each(value, below, report, depth)
    end
  end
end

-- Calls `report(pointer, code, message)` for each oddity of a schema that was read from JSON.
function schemalint.check(schema, report)
  if not is_table(schema) or #schema > 0 then
    report("", "schema_not_an_object", "a schema is a JSON object")
    return
  end
  check(schema, "", report, 0)
end

-- Does the schema let through objects with keys that it does not name?
function schemalint.is_open(schema)
  return is_table(schema) and schema.additionalProperties ~= false and schema.unevaluatedProperties ~= false
end

return schemalint
