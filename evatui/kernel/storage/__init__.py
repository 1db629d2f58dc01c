"""What outlives the process: the state of capabilities and the history of generations, in SQLite."""
