"""From what somebody says ("that function") to what is meant, and from a question to its context."""
