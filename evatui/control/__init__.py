"""Everything that a person or a script may ask of a runtime, in the process or over its socket."""
