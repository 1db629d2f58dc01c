"""Values without IO: what every room speaks of."""
