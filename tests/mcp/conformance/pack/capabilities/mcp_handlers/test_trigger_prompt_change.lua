-- A handler cannot change what is served: it asks whoever listens to do so.
return {
  invoke = function(ctx)
    ctx.host.emit_event({ topic = "/test/prompts", payload = {} })
    return { ok = true, result = "asked for" }
  end,
}
