return {
  invoke = function()
    local message = "This tool intentionally returns an error for testing"
    return { ok = false, error = { kind = "Conflict", message = message } }
  end,
}
