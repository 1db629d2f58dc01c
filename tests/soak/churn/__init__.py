"""Many capabilities that are saved, broken, deleted, rolled back, drained and killed, under callers that judge."""
