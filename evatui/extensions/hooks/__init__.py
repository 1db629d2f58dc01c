"""Commands of plugins that are run around calls: which of them, what they are told, and what their end means."""
