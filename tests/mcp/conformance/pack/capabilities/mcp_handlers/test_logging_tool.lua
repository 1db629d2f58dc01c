return {
  invoke = function(ctx)
    ctx.host.log("info", { message = "Tool execution started" })
    return { ok = true, result = "done" }
  end,
}
