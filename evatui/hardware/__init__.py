"""Devices: who they are, whether they are there, and who may use them.

The libraries that reach them are imported when a source first looks, and nowhere else.
"""
