"""The screen: what an operator sees of a running runtime, and the keys to change it."""
