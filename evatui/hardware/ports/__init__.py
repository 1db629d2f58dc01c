"""What an open device is read from and written to."""
