return {
  invoke = function()
    return { ok = true, result = "see the content", meta = { mcp_content = {
      { type = "audio", mimeType = "audio/wav", data = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=" },
    } } }
  end,
}
