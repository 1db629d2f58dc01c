"""Ways out of the kernel, one file each, behind the ports that it declares."""
