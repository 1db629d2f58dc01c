-- What a file is, by its name alone.

local textkit = require("textkit")

local filetypes = {}

local LANGUAGE_OF_EXTENSION = {
  py = "Python", pyi = "Python", lua = "Lua", rs = "Rust", go = "Go", c = "C", h = "C",
  cc = "C++", cpp = "C++", hpp = "C++", cs = "C#", java = "Java", kt = "Kotlin", swift = "Swift",
  js = "JavaScript", mjs = "JavaScript", jsx = "JavaScript", ts = "TypeScript", tsx = "TypeScript",
  rb = "Ruby", php = "PHP", sh = "Shell", bash = "Shell", zsh = "Shell", sql = "SQL",
  html = "HTML", css = "CSS", scss = "CSS", tcss = "CSS", md = "Markdown", rst = "reStructuredText",
  txt = "Text", json = "JSON", jsonl = "JSON", yaml = "YAML", yml = "YAML", toml = "TOML", ini = "INI",
  cfg = "INI", xml = "XML", svg = "SVG", csv = "CSV", proto = "Protocol Buffers",
}

local LANGUAGE_OF_NAME = {
  makefile = "Makefile", dockerfile = "Dockerfile", license = "Text", copying = "Text", readme = "Text",
}

local ROLE_OF_NAME = {
  ["license"] = "license", ["license.md"] = "license", ["license.txt"] = "license", ["copying"] = "license",
  ["contributing.md"] = "how to contribute", ["changelog.md"] = "changes", ["security.md"] = "security policy",
  ["makefile"] = "build", ["dockerfile"] = "container", ["docker-compose.yml"] = "container",
  ["pyproject.toml"] = "Python project", ["setup.py"] = "Python project",
  ["requirements.txt"] = "Python dependencies", ["package.json"] = "Node project",
  ["cargo.toml"] = "Rust project", ["go.mod"] = "Go module", ["eva.yaml"] = "Eva workspace",
  [".gitignore"] = "ignored by git", [".editorconfig"] = "editor settings",
}

-- Folders of tools, and of things that are built: their size says nothing about a repository.
local NO_SOURCES = {
  [".git"] = true, [".hg"] = true, [".svn"] = true, [".eva"] = true,
  [".venv"] = true, ["venv"] = true, ["node_modules"] = true, ["__pycache__"] = true,
  [".mypy_cache"] = true, [".ruff_cache"] = true, [".pytest_cache"] = true, [".hypothesis"] = true,
  [".tox"] = true, [".idea"] = true, ["dist"] = true, ["build"] = true, ["target"] = true,
}

-- The last segment of a path.
function filetypes.name(path)
  local parts = textkit.split(path, "/")
  return parts[#parts]
end

-- In lower case, without the dot; "" where there is none. ".gitignore" is a name, not an extension.
function filetypes.extension(path)
  local parts = textkit.split(filetypes.name(path), ".")
  if #parts < 2 or (#parts == 2 and parts[1] == "") then
    return ""
  end
  return parts[#parts]:lower()
end

-- The language of a text file; nil for a file that is not known to be text.
function filetypes.language(path)
  return LANGUAGE_OF_EXTENSION[filetypes.extension(path)] or LANGUAGE_OF_NAME[filetypes.name(path):lower()]
end

-- What a file of this name is for, where every reader knows it; else nil.
function filetypes.role(path)
  return ROLE_OF_NAME[filetypes.name(path):lower()]
end

-- Is a folder of this name no part of the sources?
function filetypes.is_no_source(path)
  return NO_SOURCES[filetypes.name(path)] == true
end

return filetypes
