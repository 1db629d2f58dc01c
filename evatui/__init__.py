"""An operator console that runs a capability runtime in its own process."""

__version__ = "0.1.0"
