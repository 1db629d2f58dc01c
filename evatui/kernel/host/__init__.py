"""What ``ctx.host`` may do for a handler, and for which one."""
