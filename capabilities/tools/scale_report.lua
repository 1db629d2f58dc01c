-- What the scale shows. The device is asked by its name: which port it is plugged into is not for a handler to know.
local SCALE = "scale.main"

local function in_words(reading)
  local kilograms = string.format("%.3f kg", reading.weight_g / 1000)
  local settled = reading.stable and "" or ", still moving"
  return kilograms .. settled .. (reading.simulated and " (simulated)" or "")
end

function invoke(ctx, request)
  local called, answer = pcall(ctx.host.invoke_adapter, {
    capability = "scale.weight.read",
    payload = { logical_id = SCALE },
  })
  if not called or not answer.ok then
    local problem = called and answer.error or answer
    local message = "no weight: " .. tostring(problem.message)
    return { ok = false, error = { kind = "Unavailable", message = message, retryable = problem.retryable == true } }
  end
  local reading = answer.result
  return {
    ok = true,
    result = {
      scale = SCALE,
      weight_g = reading.weight_g,
      stable = reading.stable,
      simulated = reading.simulated,
      text = in_words(reading),
    },
  }
end

function health_check(ctx)
  return { ok = in_words({ weight_g = 1500, stable = true, simulated = false }) == "1.500 kg" }
end
