"""What extends agents from outside the kernel: skills change what they know."""
