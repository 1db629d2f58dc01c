-- Progress is looked at ten times a second, so each step takes somewhat longer than that.
local STEP_S = 0.15

local function wait()
  local start = os.clock()
  while os.clock() - start < STEP_S do end
end

return {
  invoke = function(ctx)
    for _, done in ipairs({ 0, 50, 100 }) do
      ctx.host.progress({ done = done, total = 100 })
      wait()
    end
    return { ok = true, result = "done" }
  end,
}
