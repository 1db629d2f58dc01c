"""The disk: where things lie, what is written there, and when it changes."""
