"""The way in for MCP clients. The protocol and its transports are the official SDK's, which only this room imports."""
