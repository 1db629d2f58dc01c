return {
  invoke = function()
    return { ok = true, result = "see the content", meta = { mcp_content = {
      { type = "text", text = "Multiple content types test:" },
      { type = "image", mimeType = "image/png", data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==" },
      { type = "resource", resource = { uri = "test://mixed-content-resource", mimeType = "application/json", text = '{"test":"data","value":123}' } },
    } } }
  end,
}
