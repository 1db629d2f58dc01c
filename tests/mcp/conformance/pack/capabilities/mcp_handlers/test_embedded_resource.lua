return {
  invoke = function()
    return { ok = true, result = "see the content", meta = { mcp_content = {
      { type = "resource", resource = { uri = "test://embedded-resource", mimeType = "text/plain", text = 'This is an embedded resource content.' } },
    } } }
  end,
}
