"""``ovillo serve --conformance-fixture``: what the official MCP conformance suite calls, instead of ovillo's own tools.

Owns a server whose tools, resources and prompts do nothing but what the suite asks for, over the same transport, layers and
SDK set-up as the real one, so that the suite judges those. Holds no session and opens no store. Imported in this mode only.
"""
