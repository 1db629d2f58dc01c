"""Which generation serves what: lifecycle, table, router, the call path, reload."""
