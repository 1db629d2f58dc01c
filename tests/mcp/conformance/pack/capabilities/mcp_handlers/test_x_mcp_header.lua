return {
  invoke = function(_, request)
    return { ok = true, result = request.payload }
  end,
}
