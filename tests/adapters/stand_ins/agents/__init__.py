"""What the adapter imports of the OpenAI Agents SDK, for tests where that is not installed."""
