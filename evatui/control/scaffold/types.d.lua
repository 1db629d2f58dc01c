---@meta
-- What a handler is given, for editors with the Lua language server. Nothing loads this file.

---@class eva.Caller
---@field type "user"|"cli"|"mcp"|"capability"|"subagent"|"hook"
---@field id string

---@class eva.RequestContext
---@field workspace string
---@field request_id string
---@field trace_id string
---@field deadline_ms integer Milliseconds left for this call.
---@field generation string
---@field user string?
---@field tags table<string, string>
---@field caller eva.Caller

---@class eva.Request Read-only.
---@field capability string The name that was called.
---@field provider string The id that answers.
---@field payload table What the caller sent, valid by the input schema.
---@field context eva.RequestContext

---@class eva.Error
---@field kind "InvalidInput"|"NotFound"|"Conflict"|"Unavailable"|"PolicyDenied"|string
---@field message string
---@field retryable boolean?

---@class eva.Response
---@field ok boolean
---@field result any Valid by the output schema.
---@field meta table?
---@field error eva.Error?

---@class eva.Entry
---@field path string
---@field kind "file"|"directory"|"link"|"other"
---@field bytes integer

---@class eva.Answer
---@field ok boolean
---@field result any Where ok.
---@field error eva.Error? Where not ok.

---@class eva.Host Every function returns its value, or raises an `eva.Error` that `pcall` catches.
local host = {}

---@param argument {path: string, root: string?, max_bytes: integer?}
---@return string
function host.fs_read_text(argument) end

---@param argument {path: string, root: string?, max_bytes: integer?}
---@return any
function host.fs_read_json(argument) end

---@param argument {path: string, root: string?, glob: string?, limit: integer?}
---@return eva.Entry[]
function host.fs_list(argument) end

---@param argument {path: string, root: string?, text: string, mode: "replace"|"create"|"append"|nil}
---@return {bytes: integer}
function host.fs_write_text(argument) end

---@param argument {key: string, default: any}
---@return {value: any, version: integer}
function host.state_get(argument) end

---@param argument {key: string, value: any, expected_version: integer?}
---@return {version: integer}
function host.state_set(argument) end

---@param argument {topic: string, payload: any}
---@return {event_id: string}
function host.emit_event(argument) end

---@param argument {capability: string, payload: any} Raises where nobody was called.
---@return eva.Answer
function host.call_tool(argument) end

---@param argument {capability: string, provider: string?, payload: any, timeout_ms: integer?} Raises where nobody was called.
---@return eva.Answer
function host.invoke_adapter(argument) end

---@param argument {method: string?, url: string, headers: table<string, string>?, body: string?, timeout_ms: integer?, credential: string?}
---@return {status: integer, headers: table<string, string>, body: string}
function host.http_request(argument) end

---@param argument {argv: string[], stdin: string?, timeout_ms: integer?}
---@return {code: integer, stdout: string, stderr: string}
function host.spawn_process(argument) end

---@param argument {done: number, total: number?, message: string?} done is at most total; of a message 200 characters are shown.
function host.progress(argument) end

---@return string rfc3339
---@return integer epoch_ms
function host.now() end

---@param level "debug"|"info"|"warn"|"error"
---@param fields table
function host.log(level, fields) end

---@class eva.Context
---@field host eva.Host

---@class eva.Json
---@field null userdata
json = {}

---@param items any[]?
---@return any[]
function json.array(items) end

---@param fields table?
---@return table
function json.object(fields) end

---@param value any
---@return string
function json.encode(value) end

---@param text string
---@return any
function json.decode(text) end
