"""A new capability that works at once."""
