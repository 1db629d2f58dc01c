"""What happened, kept: the audit log with its chain, and the event bus."""
