"""Sessions of SDKs for agents, kept in ovillo: one file an SDK, each behind an extra of its name.

Owns nothing itself. An adapter opens the database of this user itself (ADR 0031): no server has to run, and several processes may
keep sessions at once. What they keep is found, listed and shown like every session.
"""
