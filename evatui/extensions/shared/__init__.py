"""What skills and plugins have in common: where they lie, what a manifest says, and what the machine has."""
