return {
  invoke = function()
    return { ok = true, result = "This is a simple text response for testing." }
  end,
}
