"""Who answers besides Lua: adapters in service, and the router over all of them."""
