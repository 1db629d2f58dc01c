return {
  invoke = function()
    return { ok = true, result = "see the content", meta = { mcp_content = {
      { type = "image", mimeType = "image/png", data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==" },
    } } }
  end,
}
