"""The MCP endpoint `/mcp/app`: JSON-RPC over one POST route, without sessions or streams.

Each request belongs to one of two eras of the protocol: 2026-07-28, in which every request
describes its client, or the earlier versions, which begin with `initialize`.
"""
