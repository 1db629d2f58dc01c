"""Putting a new version to the test beside the one that serves: who gets it, what is counted, who decides."""
