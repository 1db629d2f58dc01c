"""Devices that are made up, and say so. What they answer depends on what they were asked, and on nothing else."""
