"""What of skills and plugins reaches an agent's system prompt."""
