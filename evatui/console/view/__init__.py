"""What the console shows, as pure functions: nothing in here imports Textual."""
