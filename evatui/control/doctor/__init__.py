"""Is this machine fit to run a workspace, and what is to be done where it is not?"""
