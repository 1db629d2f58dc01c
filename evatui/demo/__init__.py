"""The guided tour: a real runtime in a temporary workspace, played by the keys that a person would press."""
