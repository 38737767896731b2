"""Conversations, incidents and tool runs, as MCP-OCS keeps them: one way in, whatever kind it is, and one store."""
