"""Dialogs, each beside its own style sheet."""
