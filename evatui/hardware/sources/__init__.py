"""Where devices are seen. Looking never opens one."""
