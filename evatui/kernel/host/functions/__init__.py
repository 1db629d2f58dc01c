"""The functions of ``ctx.host``, by subject. ``table`` says which there are and on what thread each runs."""
