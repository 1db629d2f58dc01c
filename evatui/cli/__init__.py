"""The ``eva`` command: words in, text or one JSON object out."""
