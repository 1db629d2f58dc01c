"""``SKILL.md`` files: read, laid over each other layer by layer, and told to agents."""
