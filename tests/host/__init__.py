"""The host on a real workspace; only the registry behind ``call_tool`` is a stand-in."""
