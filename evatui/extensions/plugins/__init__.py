"""Plugins: a folder with a ``manifest.json`` and a program that agents' tools are."""
