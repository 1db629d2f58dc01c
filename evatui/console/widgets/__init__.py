"""Widgets that know lines and rows, but nothing of capabilities."""
