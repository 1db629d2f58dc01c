"""Snapshot to verdict: manifest rules, schemas, policy, and explanations that a person can act on."""
