-- workflow.config_lint: what to mend in the configuration of a workspace, and in which order.
--
-- A workflow of two looks. What is wrong is found by `config.validate_project`, which is called as
-- anybody calls it; what is only unwise is found here, by the rules in `lintrules`. Both become one
-- plan: the files with the gravest findings first, each step with what to do about it.

local lintrules = require("lintrules")
local Project = require("project")
local textkit = require("textkit")

local CHECK = "config.validate_project"
local SHOWN_STEPS = 200
local SEVERITIES = { "error", "warning", "info" }
local RANK = { error = 1, warning = 2, info = 3 }

-- What the tool finds; nil and the error to answer with where it does not answer.
local function mistakes(host)
  local done, answer = pcall(host.call_tool, { capability = CHECK, payload = {} })
  if done and answer.ok then
    return answer.result
  end
  local problem = done and answer.error or answer
  local said = type(problem) == "table" and (problem.message or problem.kind) or tostring(problem)
  return nil, { kind = "Unavailable", message = CHECK .. " does not answer: " .. said, retryable = true }
end

local function unwise(host)
  local project = Project.new(host)
  local layout = project:layout()
  for _, path in ipairs(layout and project:manifests(layout) or {}) do
    lintrules.check(project, layout, path)
  end
  return project
end

-- A finding of what nobody can read was made by the tool already.
local function is_new(finding, seen)
  local key = string.format("%s %s %s", finding.path, finding.line or 0, finding.code)
  local fresh = not seen[key]
  seen[key] = true
  return fresh
end

local function merged(payload, ...)
  local skipped, seen, steps = {}, {}, {}
  for _, rule in ipairs(payload.skip or {}) do
    skipped[rule] = true
  end
  for _, findings in ipairs({ ... }) do
    for _, finding in ipairs(findings) do
      if not skipped[finding.code] and lintrules.is_a_step(finding.code) and is_new(finding, seen) then
        steps[#steps + 1] = {
          path = finding.path, line = finding.line, severity = finding.severity, rule = finding.code,
          message = finding.message, advice = lintrules.advice(finding.code),
        }
      end
    end
  end
  return steps
end

-- The files by their gravest step, then by name; inside of a file from top to bottom.
local function in_order(steps)
  local worst = {}
  for _, step in ipairs(steps) do
    worst[step.path] = math.min(worst[step.path] or 3, RANK[step.severity])
  end
  table.sort(steps, function(one, other)
    if worst[one.path] ~= worst[other.path] then
      return worst[one.path] < worst[other.path]
    elseif one.path ~= other.path then
      return one.path < other.path
    elseif (one.line or 0) ~= (other.line or 0) then
      return (one.line or 0) < (other.line or 0)
    elseif one.rule ~= other.rule then
      return one.rule < other.rule
    end
    return one.message < other.message
  end)
  return steps
end

local function counted(steps)
  local counts, files, paths = { error = 0, warning = 0, info = 0 }, 0, {}
  for _, step in ipairs(steps) do
    counts[step.severity] = counts[step.severity] + 1
    files = files + (paths[step.path] and 0 or 1)
    paths[step.path] = true
  end
  return counts, files
end

local function sentence(counts, files)
  local parts = {}
  for _, severity in ipairs(SEVERITIES) do
    if counts[severity] > 0 then
      parts[#parts + 1] = textkit.counted(counts[severity], severity == "info" and "remark" or severity)
    end
  end
  if #parts == 0 then
    return "nothing to mend"
  end
  return string.format("%s in %s", table.concat(parts, ", "), textkit.counted(files, "file"))
end

local function invoke(ctx, request)
  local found, problem = mistakes(ctx.host)
  if not found then
    return { ok = false, error = problem }
  end
  local project, payload = unwise(ctx.host), request.payload
  local steps = in_order(merged(payload, found.findings, project.findings))
  local counts, files = counted(steps)
  local shown, least = {}, RANK[payload.severity or "info"]
  for _, step in ipairs(steps) do
    if RANK[step.severity] <= least and #shown < SHOWN_STEPS then
      shown[#shown + 1] = step
    end
  end
  return {
    ok = true,
    result = {
      clean = #steps == 0,
      summary = sentence(counts, files),
      steps = shown,
      steps_total = #steps,
      counts = counts,
      complete = found.complete and project.complete and #found.findings == found.findings_total,
    },
  }
end

-- Healthy where the workspace can be listed at all; whether the tool answers is for each call to see.
local function health_check(ctx)
  ctx.host.fs_list({ path = ".", limit = 1 })
  return { ok = true }
end

return { invoke = invoke, health_check = health_check }
