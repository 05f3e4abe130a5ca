"""The MCP endpoint `/mcp/app`: JSON-RPC over one POST route, without sessions and streams.

Two eras of the protocol are spoken, told apart request by request: 2026-07-28, where each request
says what its client is, and the earlier versions, which begin with `initialize`.
"""
