"""``python -m tests.conformance``: what the official MCP conformance suite calls, instead of ovillo's own tools.

Owns a server whose tools, resources and prompts do nothing but what the suite asks for, over the same transport, layers and
SDK set-up as the real one, so that the suite judges those. No part of what is installed.
"""
