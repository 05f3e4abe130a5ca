"""`askback connect`: how each host of agents is told of an MCP server."""
